import fs from 'node:fs';

/** Gives a file new content in one step: whoever reads it meanwhile finds the old one. Leaves nothing of a failure behind. */
export function replaceFile(file: string, text: string, mode: number): void {
  const next = `${file}.${process.pid}.tmp`;
  try {
    fs.writeFileSync(next, text, { mode });
    fs.renameSync(next, file);
  } catch (error) {
    fs.rmSync(next, { force: true });
    throw error;
  }
}
