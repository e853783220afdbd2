import type { Results } from './report.ts';
export interface UiOptions {
  vsix?: string;
  screenshots: boolean;
  only?: string;
}
export async function runUi(_options: UiOptions): Promise<Results> {
  return { passed: 0, failed: [], skipped: 0 };
}
