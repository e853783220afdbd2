/**
 * `npm run bench -- [P1 P3 …] [--quick]`: builds, then measures (bench/main.ts) on the project's own
 * Node. Figures mean something on a machine that is otherwise idle; the ratios hold on a busy one.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment, onOwnNode, root } from './setup.mjs';

onOwnNode(fileURLToPath(import.meta.url));
for (const command of [['esbuild.mjs'], [path.join('bench', 'main.ts'), ...process.argv.slice(2)]]) {
  const child = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit', env: environment() });
  if (child.status !== 0) process.exit(child.status ?? 1);
}
