import { hashOf } from '../lib/hash.ts'
import { evictOldest } from '../lib/maps.ts'
import type { Clock } from '../types.ts'
import type { Group, GroupEntry } from './group.ts'
import type { SharedState } from './shared-state.ts'

/** Where sessions were moved to when the entry that they belong to failed them. */
export interface SessionAffinity {
  /** The name of an entry. */
  entryNameOf(group: Group, session: string): Promise<string | undefined>
  moveTo(group: Group, session: string, entry: GroupEntry): Promise<void>
}

/** Longer than any provider keeps a cached prompt; then a session goes home. */
const TTL_MS = 60 * 60 * 1_000

/** Session affinity in shared state, for an hour each. */
export const createSessionAffinity = (state: SharedState): SessionAffinity => ({
  entryNameOf: async (group, session) => (await state.read(keyOf(group, session)))?.value,
  moveTo: async (group, session, entry) =>
    void (await state.write(keyOf(group, session), entry.name, { ttlMs: TTL_MS })),
})

/** Which connection has answered a session last, as this instance knows: a draining connection goes on with its own. */
export interface AnsweredSessions {
  isAnsweredBy(group: Group, session: string, connectionId: string): boolean
  note(group: Group, session: string, connectionId: string): void
}

/** The latest sessions are remembered. */
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

/** What was pinned before the group was changed is never asked for again, and ends by itself. Sessions may hold what identifies people, and be long: only a hash is kept. */
const keyOf = ({ label, edition = '' }: Group, session: string) =>
  `pins/${encodeURIComponent(label)}/${edition}/${hashOf(session).toString(36)}-${hashOf(session, OTHER_FACTOR).toString(36)}`

const OTHER_FACTOR = 0x5bd1e995
