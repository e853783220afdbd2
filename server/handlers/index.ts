/** Which handler answers which message. The compiler sees to it that none is missing. */
import * as protocol from '../../shared/protocol.ts';
import type { Handler } from '../context.ts';
import { bump, cancel, rerun, retry } from './actions.ts';
import { add } from './add.ts';
import { events, subscribe, unsubscribe } from './events.ts';
import { list, show, timeline } from './jobs.ts';
import { follow, followStop, output } from './output.ts';
import {
  doctor,
  lanes,
  lanesRemove,
  lanesSet,
  pause,
  prune,
  resume,
  server,
  serverStop,
  settings,
  settingsSet,
  spans,
  status,
} from './queue.ts';
import { wait } from './wait.ts';

/** Messages that go from the server to its clients; every other one is a client's. */
type FromServer = 'LogGrew' | 'EventsHint' | 'Finishing';
type FromClient = Exclude<keyof typeof protocol.MESSAGES, FromServer>;

const HANDLERS: Record<FromClient, Handler> = {
  Add: add,
  List: list,
  Show: show,
  StatusRequest: status,
  Output: output,
  Follow: follow,
  FollowStop: followStop,
  Cancel: cancel,
  Retry: retry,
  Rerun: rerun,
  Bump: bump,
  Wait: wait,
  Events: events,
  Subscribe: subscribe,
  Unsubscribe: unsubscribe,
  Timeline: timeline,
  Spans: spans,
  Lanes: lanes,
  LanesSet: lanesSet,
  LanesRemove: lanesRemove,
  Pause: pause,
  Resume: resume,
  Prune: prune,
  Doctor: doctor,
  SettingsGet: settings,
  SettingsSet: settingsSet,
  ServerStatus: server,
  ServerStop: serverStop,
  Poke: (context) => context.feed.poke(),
};

const BY_METHOD: ReadonlyMap<string, Handler> = new Map(
  Object.entries(HANDLERS).map(([name, handler]) => [protocol.MESSAGES[name as FromClient].method, handler]),
);

/** The handler of a method; undefined when there is no such message. */
export function handlerOf(method: string): Handler | undefined {
  return BY_METHOD.get(method);
}
