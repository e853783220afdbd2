/** What the extension and the timeline's page tell one another. Times are milliseconds since the epoch. */
import type { Span } from '../../../../shared/protocol.ts';
import type { View } from './view.ts';

/** A lane's present, for its heading. */
export interface LaneNow {
  name: string;
  running: number;
  slots: number;
  waiting: number;
  paused: boolean;
}

/** What the editor keeps for a page while it is hidden, and over a reload of the window. */
export interface Kept {
  view: View;
  live: boolean;
  /** Everything is kept in sight. */
  fitting: boolean;
  /** Path of the folder whose queue it shows. */
  root: string;
}

/** extension → page */
export type ToPage =
  | {
      type: 'spans';
      spans: Span[];
      lanes: LaneNow[];
      /** The span of time that was asked for. */
      from: number;
      to: number;
      /** There are more attempts in it than were sent. */
      truncated: boolean;
    }
  /** Bring a job into view. */
  | { type: 'reveal'; job: number }
  | { type: 'trouble'; message: string };

/** page → extension */
export type FromPage =
  /** The page listens now. */
  | { type: 'ready' }
  /** The person looks at this span of time. */
  | { type: 'range'; from: number; to: number }
  /** Open the log of an attempt. */
  | { type: 'open'; job: number; attempt: number };
