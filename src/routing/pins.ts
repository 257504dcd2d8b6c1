import { hashOf } from '../lib/hash.ts'
import type { Entry, Group } from './group.ts'
import type { SharedState } from './shared-state.ts'

/** Where sessions were moved to when the entry that they belong to failed them. */
export interface Pins {
  /** The name of an entry. */
  of(group: Group, session: string): Promise<string | undefined>
  set(group: Group, session: string, entry: Entry): Promise<void>
}

/** Longer than any provider keeps a cached prompt; then a session goes home. */
const TTL_MS = 60 * 60 * 1_000

/** Pins in shared state, for an hour each. */
export const createPins = (state: SharedState): Pins => ({
  of: async (group, session) => (await state.read(keyOf(group, session)))?.value,
  set: async (group, session, entry) => void (await state.write(keyOf(group, session), entry.name, { ttlMs: TTL_MS })),
})

/** What was pinned before the group was changed is never asked for again, and ends by itself. Sessions may hold what identifies people, and be long: only a hash is kept. */
const keyOf = ({ label, edition = '' }: Group, session: string) =>
  `pins/${encodeURIComponent(label)}/${edition}/${hashOf(session).toString(36)}-${hashOf(session, OTHER_FACTOR).toString(36)}`

const OTHER_FACTOR = 0x5bd1e995
