/** How a server comes to its end: asked once it finishes, asked again with force it stops its jobs. */
import { toErrorData } from '../shared/errors.ts';
import type { WorkerHandle } from './run/worker.ts';

export interface Ending {
  /** Returns at once. */
  ask(options: { force: boolean; reason: string }): void;
  /** It was asked, and is on its way. */
  readonly begun: boolean;
  /** Resolves once nothing runs here any more and that is written. */
  readonly done: Promise<void>;
}

export interface EndingOptions {
  worker: Pick<WorkerHandle, 'stop' | 'running'>;
  log: (message: string) => void;
  /** Tell the clients. */
  announce: (message: { reason: string; running: number }) => void;
}

export function createEnding({ worker, log, announce }: EndingOptions): Ending {
  let begun = false;
  let forced = false;
  let finish: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return {
    get begun() {
      return begun;
    },
    done,
    ask({ force, reason }) {
      if (forced || (begun && !force)) return;
      const running = worker.running();
      log(`${reason}: ${force ? `stops ${running} running` : `finishes, ${running} running`}`);
      begun = true;
      forced = force;
      announce({ reason, running });
      worker.stop({ graceful: !force }).then(finish, (error: unknown) => {
        log(`the worker did not end in order: ${toErrorData(error).message}`);
        finish();
      });
    },
  };
}
