/**
 * SHA-256 (FIPS 180-4) of a short text. Only because loading `node:crypto` costs a fifth of a
 * whole `lane add`, and a path has to be hashed before anything can be dialled. Not for secrets.
 */

/** The first 32 bits of the fractional parts of the `power`-th roots of the first `count` primes. */
function rootsOfPrimes(count: number, power: number): Int32Array {
  const words = new Int32Array(count);
  let found = 0;
  for (let n = 2; found < count; n++) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= n && prime; divisor++) prime = n % divisor !== 0;
    if (!prime) continue;
    const root = power === 2 ? Math.sqrt(n) : Math.cbrt(n);
    words[found++] = ((root - Math.floor(root)) * 2 ** 32) | 0;
  }
  return words;
}

/** Lower-case hex digest of the text's UTF-8 bytes. */
export function sha256Hex(text: string): string {
  const k = rootsOfPrimes(64, 3);
  const hash = rootsOfPrimes(8, 2);
  const bytes = Buffer.from(text, 'utf8');
  const padded = Buffer.alloc(((bytes.length + 8) >> 6) * 64 + 64);
  bytes.copy(padded);
  padded[bytes.length] = 0x80;
  padded.writeUInt32BE(Math.floor(bytes.length / 2 ** 29), padded.length - 8);
  padded.writeUInt32BE((bytes.length * 8) >>> 0, padded.length - 4);

  const w = new Int32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let t = 0; t < 16; t++) w[t] = padded.readInt32BE(block + t * 4);
    for (let t = 16; t < 64; t++) {
      const a = w[t - 15]!;
      const b = w[t - 2]!;
      const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
      const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
      w[t] = (w[t - 16]! + s0 + w[t - 7]! + s1) | 0;
    }
    compress(hash, w, k);
  }
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function compress(hash: Int32Array, w: Int32Array, k: Int32Array): void {
  let [a, b, c, d, e, f, g, h] = hash as unknown as [number, number, number, number, number, number, number, number];
  for (let t = 0; t < 64; t++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const one = (h + s1 + ((e & f) ^ (~e & g)) + k[t]! + w[t]!) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    hash[index] = (hash[index]! + word) | 0;
  });
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by)) | 0;
}
