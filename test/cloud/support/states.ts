import { digestKey } from '../../../src/features/cloud-sync/cryptography.ts'
import type { RecordState } from '../../../src/features/cloud-sync/protocol.ts'
import { mintClientKey } from '../../../src/records/key-format.ts'
import { plant } from '../../support/canaries.ts'

const AT = '2026-01-01T00:00:00.000Z'

/** Creates the state of a key as a gateway syncs it, without the key's value. */
export async function keyState(id: string, options: { value?: string; edits?: number; isActive?: boolean } = {}) {
  const { value = mintClientKey(), edits = 1, isActive = true } = options
  plant(value)
  const revision = [edits, 0] as const
  const state: RecordState = {
    collection: 'keys',
    id,
    revision,
    record: { id, name: id, createdAt: AT, digest: await digestKey(value) },
    active: { isActive, revision },
  }
  return { value, state }
}

export const connectionState = (id: string, apiKey: string): RecordState => {
  plant(apiKey)
  return {
    collection: 'connections',
    id,
    revision: [1, 0],
    record: { id, provider: 'openai', name: id, priority: 1, apiKey, createdAt: AT, updatedAt: AT },
    active: { isActive: true, revision: [1, 0] },
  }
}

export const settingsState = (requireApiKey: boolean, edits = 1): RecordState => ({
  collection: 'settings',
  id: 'settings',
  revision: [edits, 0],
  record: { requireApiKey },
})

export const markDeleted = ({ active: _, ...state }: RecordState, edits: number): RecordState => ({
  ...state,
  revision: [edits, 0],
  record: null,
})
