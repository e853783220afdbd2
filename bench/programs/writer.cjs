/** Writes the time, in milliseconds since the epoch, a line every `argv[2]` ms, `argv[3]` times. */
const { writeSync } = require('node:fs');

const [every, times] = process.argv.slice(2).map(Number);
let written = 0;
const timer = setInterval(() => {
  writeSync(1, `${performance.timeOrigin + performance.now()}\n`);
  written += 1;
  if (written === times) clearInterval(timer);
}, every);
