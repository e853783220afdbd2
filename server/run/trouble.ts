/**
 * While the machine cannot start processes, a worker claims nothing: every claim would only come
 * back. It says so, tries by itself whether a start works again, and then goes on.
 */
export interface Trouble {
  /** Trouble began, or goes on under another name. */
  report(text: string): void;
  current(): string | null;
  stop(): void;
}

export interface TroubleTools {
  /** Resolves true when processes start again. */
  probe: () => Promise<boolean>;
  onChange: (text: string | null) => void;
  firstProbeMs: number;
  longestProbeMs: number;
}

export function createTrouble({ probe, onChange, firstProbeMs, longestProbeMs }: TroubleTools): Trouble {
  let text: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const probeAfter = (delay: number) => {
    timer = setTimeout(() => {
      void probe()
        .catch(() => false)
        .then((over) => {
          if (stopped) return;
          if (!over) {
            probeAfter(Math.min(delay * 2, longestProbeMs));
            return;
          }
          text = null;
          onChange(null);
        });
    }, delay);
  };

  return {
    report: (now) => {
      if (stopped) return;
      const began = text === null;
      if (text !== now) {
        text = now;
        onChange(now);
      }
      if (began) probeAfter(firstProbeMs);
    },
    current: () => text,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
