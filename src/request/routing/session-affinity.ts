import { hashText } from '../../lib/hash.ts'
import { evictOldest } from '../../lib/maps.ts'
import type { Clock } from '../../types.ts'
import type { Group, GroupEntry } from './group.ts'
import type { SharedState } from './shared-state.ts'

/** One caller's session. */
export interface OwnedSession {
  readonly owner: string
  readonly session: string
}

/** The entries that sessions were moved to after their own entry failed. */
export interface SessionAffinity {
  /** Returns the name of the entry that the session was moved to, or `undefined` if it wasn't moved. */
  getEntryName(group: Group, session: OwnedSession): Promise<string | undefined>
  moveSession(group: Group, session: OwnedSession, entry: GroupEntry): Promise<void>
}

/** How long a session stays moved, in ms; longer than any provider caches prompts. */
const TTL_MS = 60 * 60 * 1_000

/** Keeps each moved session for an hour in shared state. */
export const createSessionAffinity = (state: SharedState): SessionAffinity => ({
  getEntryName: async (group, session) => (await state.read(getKey(group, session)))?.value,
  moveSession: async (group, session, entry) =>
    void (await state.write(getKey(group, session), entry.name, { ttlMs: TTL_MS })),
})

/** The connections that last served each session on this instance, because a draining connection keeps its sessions. */
export interface ServedSessions {
  isServedBy(group: Group, session: OwnedSession, connectionId: string): boolean
  record(group: Group, session: OwnedSession, connectionId: string): void
}

/** Maximum number of sessions; the oldest are dropped first. */
const MAX_SESSIONS = 10_000

/** Remembers sessions in memory, for an hour each. */
export function createServedSessions(clock: Clock): ServedSessions {
  const sessions = new Map<string, { connectionId: string; expiresAt: number }>()
  return {
    isServedBy(group, session, connectionId) {
      const existing = sessions.get(getKey(group, session))
      return existing?.connectionId === connectionId && existing.expiresAt > clock.now()
    },
    record(group, session, connectionId) {
      const key = getKey(group, session)
      if (!sessions.delete(key)) evictOldest(sessions, MAX_SESSIONS)
      sessions.set(key, { connectionId, expiresAt: clock.now() + TTL_MS }) // keeps the latest session last
    },
  }
}

/**
 * Returns a session's key in a group. It contains the group's revision, so that a change to the group ends moved sessions. It contains only hashes of
 * the session and its owner, because sessions may be long and may identify people.
 */
const getKey = ({ label, revision = '' }: Group, { owner, session }: OwnedSession) =>
  `pins/${encodeURIComponent(label)}/${revision}/${toHash(session)}${owner && `-${toHash(owner)}`}`

const toHash = (text: string) => `${hashText(text).toString(36)}-${hashText(text, SECOND_FACTOR).toString(36)}`

const SECOND_FACTOR = 0x5bd1e995
