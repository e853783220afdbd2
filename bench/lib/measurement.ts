/** What a measurement is, and what it is given. */
import path from 'node:path';
import type { Row } from './rows.ts';

export interface Bench {
  /** The short run, for a look: fewer samples, smaller queues. */
  quick: boolean;
  /** The value of the full or of the short run. */
  pick<T>(full: T, quick: T): T;
  /** A folder of the whole run, removed after it. */
  scratch: string;
  /** A line about what cannot be measured here, or what a figure rests on. */
  note(line: string): void;
}

export interface Measurement {
  /** `P1` … */
  id: string;
  title: string;
  run(bench: Bench): Promise<Omit<Row, 'id'>[]>;
}

export const root = path.resolve(import.meta.dirname, '../..');
export const dist = path.join(root, 'dist');
export const programs = path.join(root, 'bench', 'programs');
