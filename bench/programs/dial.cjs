/** The least a client can be: dial the socket, introduce itself, take the answer, end. */
const net = require('node:net');

const hello = { protocol: 1, version: 'bench', client: 'test' };
const params = { processId: null, rootUri: null, capabilities: {}, initializationOptions: hello };
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
const socket = net.connect({ path: process.argv[2] });
socket.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
socket.once('data', () => process.exit(0));
socket.once('error', () => process.exit(1));
