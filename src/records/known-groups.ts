import type { KeyGroup } from '../types.ts'
import type { CodeLayer } from './code-records.ts'
import { isSignedGroup, type Keyring } from './keyring.ts'
import { RecordCache } from './record-cache.ts'
import { GROUPS_PREFIX, type GroupRecord } from './record-collections.ts'
import type { Records } from './records.ts'

/** The fields of a client key's group that a request needs. */
export type ClientGroup = Omit<KeyGroup, 'createdAt' | 'source'>

/** The cache of client key groups for requests. */
export type GroupCache = RecordCache<ClientGroup>

export interface GroupCacheDependencies
  extends Omit<ConstructorParameters<typeof RecordCache<ClientGroup>>[0], 'prefix' | 'read'> {
  records: Records<GroupRecord>
  keyring(): Promise<Keyring>
  code: CodeLayer
}

/** Creates the cache of client key groups. */
export function createGroupCache({ records, keyring, code, ...deps }: GroupCacheDependencies): GroupCache {
  async function read(id: string): Promise<ClientGroup | undefined> {
    const codeRecords = code.records
    const record = await records.get(id)
    if (codeRecords !== code.records) return read(id) // the configuration was reloaded in the meantime, so the record may be outdated
    if (record && !isGroupInCode(code, id) && !(await isSignedGroup(await keyring(), id, record)))
      throw (await loadRejections()).createUnsignedGroupError(record)
    return record && toClientGroup(record)
  }

  return new RecordCache<ClientGroup>({ ...deps, prefix: GROUPS_PREFIX, read })
}

/** Returns whether the app defines the group with this ID in code, in which case it needs no signature. */
export const isGroupInCode = ({ records }: CodeLayer, id: string): boolean =>
  records.values.has(GROUPS_PREFIX + encodeURIComponent(id))

/** Returns the group fields that requests need. */
export function toClientGroup({ createdAt, mac, source, ...group }: GroupRecord): ClientGroup {
  return group
}

/** Loads the errors for rejected keys and groups on demand, because few requests need them. */
export const loadRejections = () => import('./rejections.ts')
