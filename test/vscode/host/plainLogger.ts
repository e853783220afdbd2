/**
 * A stand-in for the editor's native file logger, which only a compiler could make: output
 * channels are files written through it, so without one every channel stays empty. It writes
 * at once and in order, and rotates by size like the original.
 */

/** Source of the CommonJS module that takes the place of `@vscode/spdlog`. */
export const PLAIN_LOGGER = `'use strict';
const fs = require('fs');
const path = require('path');
const LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'];
let common = 2;
class Logger {
  constructor(_type, _name, file, most, count) {
    Object.assign(this, { file, most, count, level: common, plain: false, dropped: false });
    fs.mkdirSync(path.dirname(file), { recursive: true });
    this.size = fs.existsSync(file) ? fs.statSync(file).size : 0;
    if (this.size === 0) fs.writeFileSync(file, '', { flag: 'a' });
  }
  write(level, message) {
    if (this.dropped || level < this.level) return;
    const time = new Date().toISOString().replace('T', ' ').slice(0, 23);
    const text = this.plain ? message : time + ' [' + LEVELS[level] + '] ' + message + '\\n';
    if (this.most > 0 && this.size + Buffer.byteLength(text) > this.most && this.count > 1) this.rotate();
    fs.appendFileSync(this.file, text);
    this.size += Buffer.byteLength(text);
  }
  rotate() {
    const { dir, name, ext } = path.parse(this.file);
    for (let nth = this.count - 1; nth >= 1; nth -= 1) {
      const from = nth === 1 ? this.file : path.join(dir, name + '.' + (nth - 1) + ext);
      if (fs.existsSync(from)) fs.renameSync(from, path.join(dir, name + '.' + nth + ext));
    }
    this.size = 0;
  }
  trace(message) { this.write(0, message); }
  debug(message) { this.write(1, message); }
  info(message) { this.write(2, message); }
  warn(message) { this.write(3, message); }
  error(message) { this.write(4, message); }
  critical(message) { this.write(5, message); }
  getLevel() { return this.level; }
  setLevel(level) { this.level = level; }
  setPattern() { this.plain = false; }
  clearFormatters() { this.plain = true; }
  flush() {}
  drop() { this.dropped = true; }
}
const create = async (...args) => new Logger('rotating', ...args);
exports.version = 1;
exports.Logger = Logger;
exports.setLevel = (level) => { common = level; };
exports.setFlushOn = () => {};
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
`;
