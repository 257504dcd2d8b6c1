import { hashOf } from '../lib/hash.ts'
import { evictOldest } from '../lib/maps.ts'
import type { Clock } from '../types.ts'
import type { Group, GroupEntry } from './group.ts'
import type { SharedState } from './shared-state.ts'

/** The entries to which sessions were moved after their own entry had failed. */
export interface SessionAffinity {
  /** The name of the entry that the session was moved to; `undefined` when it was not moved. */
  entryNameOf(group: Group, session: string): Promise<string | undefined>
  moveTo(group: Group, session: string, entry: GroupEntry): Promise<void>
}

/** How long a session stays moved before it returns to its own entry: longer than any provider keeps a cached prompt. */
const TTL_MS = 60 * 60 * 1_000

/** Keeps each moved session for an hour in shared state. */
export const createSessionAffinity = (state: SharedState): SessionAffinity => ({
  entryNameOf: async (group, session) => (await state.read(keyOf(group, session)))?.value,
  moveTo: async (group, session, entry) =>
    void (await state.write(keyOf(group, session), entry.name, { ttlMs: TTL_MS })),
})

/** The connections that answered sessions last, as far as this instance knows: a draining connection keeps its sessions. */
export interface AnsweredSessions {
  isAnsweredBy(group: Group, session: string, connectionId: string): boolean
  note(group: Group, session: string, connectionId: string): void
}

/** How many sessions are remembered, the latest ones. */
const MAX_SESSIONS = 10_000

/** Remembers sessions in memory, for an hour each. */
export function createAnsweredSessions(clock: Clock): AnsweredSessions {
  const sessions = new Map<string, { connectionId: string; until: number }>()
  return {
    isAnsweredBy(group, session, connectionId) {
      const known = sessions.get(keyOf(group, session))
      return known?.connectionId === connectionId && known.until > clock.now()
    },
    note(group, session, connectionId) {
      const key = keyOf(group, session)
      if (!sessions.delete(key)) evictOldest(sessions, MAX_SESSIONS)
      sessions.set(key, { connectionId, until: clock.now() + TTL_MS }) // now the newest
    },
  }
}

/**
 * The key of a session in a group. It contains the group's edition, so that a change of the group ends moved sessions. Only a hash of the
 * session is kept, since sessions may be long and may identify people.
 */
const keyOf = ({ label, edition = '' }: Group, session: string) =>
  `pins/${encodeURIComponent(label)}/${edition}/${hashOf(session).toString(36)}-${hashOf(session, OTHER_FACTOR).toString(36)}`

const OTHER_FACTOR = 0x5bd1e995
