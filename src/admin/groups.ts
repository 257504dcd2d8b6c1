import type { ScopeName } from '../features/limits/ledger/ledger.ts'
import { createMutex } from '../lib/promises.ts'
import { requireStored } from '../records/defined-in-code.ts'
import type { GroupRecord } from '../records/record-collections.ts'
import { CONFIRM_GROUP_ADVICE } from '../records/rejections.ts'
import { retryOnConflict } from '../records/storage-access.ts'
import type { WritableStore } from '../records/writable-store.ts'
import {
  type GroupChange,
  type GroupPut,
  groupFields,
  type KeyGroup,
  type NewGroup,
} from '../types/records/group-fields.ts'
import { requireGuards } from './guard-names.ts'
import { createInputError, type OrUnset, parseInput, parsePut } from './input.ts'
import { type KeyWarningSources, listKeyWarnings } from './key-warnings.ts'
import { getTimestamp, isSameJson, pickOutputFields, requirePresent, withChange } from './record-operations.ts'
import { createInputSchema } from './schemas.ts'
import { type WithWarnings, withWarnings } from './warnings.ts'

/**
 * Groups of keys, such as customers, teams, or plans. Methods take the typed input or `Input`, which is `never` for in-process calls and `unknown`
 * for HTTP bodies.
 */
export interface GroupOperations<Input = never> {
  list(): Promise<{ groups: GroupView[] }>
  get(id: string): Promise<GroupView>
  /** `name` must not be blank. Like the other changes, it returns `warnings` about anything that keeps its limits from being exact. */
  create(input: NewGroup | Input): Promise<GroupView & WithWarnings>
  /** Takes effect with the next request from each key in the group. Omitted fields stay the same; `null` removes a field. */
  update(id: string, input: GroupChange | Input): Promise<GroupView & WithWarnings>
  /**
   * Creates the group with this `id`, or this `name` if there is no ID. If it exists, changes the given fields. Writes nothing if nothing would
   * change, so you can call it at every start. Rejects with `INVALID_REQUEST` if a field is `undefined`.
   */
  put(input: OrUnset<GroupPut> | Input): Promise<GroupView & WithWarnings>
  /** Rejects with an `INVALID_REQUEST` that states how many keys the group still has, or that it is an account's plan. */
  delete(id: string): Promise<{ success: true }>
}

/** A group, as the management API returns it. */
export interface GroupView extends KeyGroup {
  /** Explains that the group's record was changed elsewhere, so its keys are rejected. Absent otherwise. */
  error?: string
}

export const groupInputs = {
  create: createInputSchema(groupFields, 'create'),
  update: createInputSchema(groupFields, 'update', { ignoredFields: ['warnings', 'error'] }),
  put: createInputSchema(groupFields, 'put'),
}

/** The lock for deleting groups and for adding keys to them, so no key is added to a deleted group. */
export const GROUPS_MUTEX = 'groups'

export function createGroupOperations(
  deps: KeyWarningSources & {
    store: WritableStore
    /** Removes a deleted scope's counters. Never rejects. */
    forgetLimits(scope: ScopeName): Promise<void>
    /** Resolves to whether an account has this plan. */
    hasAccounts(plan: string): Promise<boolean>
  },
): GroupOperations<unknown> {
  const { store, clock, forgetLimits, hasAccounts } = deps
  const { groups } = store
  const runInOrder = createMutex() // so concurrent calls for one name create only one group

  /** Returns the group as the API shows it. Doesn't throw for a group that was changed elsewhere, so other groups can be listed. */
  async function showGroup(record: GroupRecord): Promise<GroupView> {
    const isSigned = await store.isSignedGroup(record.id, record)
    const group = pickOutputFields(groupFields, { ...record, isActive: record.isActive !== false })
    return { ...group, ...(!isSigned && { error: UNSIGNED_GROUP_MESSAGE }) }
  }

  const showWithWarnings = async (record: GroupRecord): Promise<GroupView & WithWarnings> =>
    withWarnings(await showGroup(record), await listKeyWarnings(record, deps))

  async function findGroup(id: string): Promise<GroupRecord> {
    const isRequested = (record: GroupRecord) => record.id === id
    return requirePresent((await groups.all()).find(isRequested) ?? (await groups.get(String(id))), 'Group')
  }

  /** Creates a group. Resolves to `false` if another process has just created it. With `replacesDamaged`, also overwrites an unusable record. */
  async function addGroup(
    id: string,
    { isActive = true, ...fields }: NewGroup,
    { replacesDamaged = false }: { replacesDamaged?: boolean } = {},
  ): Promise<GroupRecord | false> {
    const record = withChange({ id, name: fields.name, isActive, createdAt: getTimestamp(clock) }, fields)
    const isAdded = (await groups.insert(id, record)) || (replacesDamaged && (await groups.replaceDamaged(id, record)))
    return isAdded && record
  }

  async function changeGroup(id: string, changes: Omit<GroupChange, 'id'>): Promise<GroupRecord> {
    const changedRecord = await groups.update(id, async (current) => {
      if (changes.isActive === undefined && !(await store.isSignedGroup(id, current)))
        throw createInputError(UNSIGNED_GROUP_MESSAGE)
      return withChange(current, changes)
    })
    return requirePresent(changedRecord, 'Group')
  }

  return {
    async list() {
      const records = await groups.all()
      return { groups: await Promise.all(records.map(showGroup)) }
    },

    get: async (id) => showGroup(await findGroup(id)),

    async create(input) {
      const group = parseInput(groupInputs.create, input)
      await requireGuards(store, group)
      const createdRecord = await retryOnConflict(() => addGroup(crypto.randomUUID(), group))
      return showWithWarnings(requirePresent(await groups.get(createdRecord.id), 'Group'))
    },

    async update(id, input) {
      const { id: sentId = id, ...changes } = parseInput(groupInputs.update, input)
      if (sentId !== id) throw createInputError('"id" cannot be changed; omit it')
      if (Object.keys(changes).length === 0)
        throw createInputError('Send "isActive", "name", or another field to change.')
      await requireGuards(store, changes)
      await findGroup(id)
      return showWithWarnings(await changeGroup(id, changes))
    },

    async put(input) {
      const { id, ...fields } = parsePut(groupInputs.put, input)
      await requireGuards(store, fields)
      const isRequested = (record: GroupRecord) => (id === undefined ? record.name === fields.name : record.id === id)
      const record = await runInOrder(() =>
        retryOnConflict<GroupRecord>(async () => {
          const entries = await groups.entries({ fresh: true })
          const existingRecord = entries.find((entry) => isRequested(entry.record))?.record
          if (!existingRecord)
            return addGroup(id ?? crypto.randomUUID(), withChange(fields, {}), { replacesDamaged: true })
          const isUnchanged =
            isSameJson(existingRecord, withChange(existingRecord, fields)) &&
            (await store.isSignedGroup(existingRecord.id, existingRecord))
          return isUnchanged ? existingRecord : changeGroup(existingRecord.id, fields)
        }),
      )
      return showWithWarnings(requirePresent(await groups.get(record.id), 'Group'))
    },

    delete: (id) =>
      store.runExclusive(GROUPS_MUTEX, async (assertLease) => {
        requireStored(await findGroup(id))
        const keys = await store.keys.entries({ fresh: true })
        const count = keys.filter(({ record }) => record.group === id).length
        if (count > 0) throw createInputError(describeKeyCount(count))
        const isPlan = keys.some(({ record }) => record.actsFor?.plan === id)
        if (isPlan || (await hasAccounts(id))) throw createInputError(IS_PLAN_MESSAGE)
        assertLease()
        requirePresent(await groups.remove(id), 'Group')
        await forgetLimits({ scope: 'group', id })
        return { success: true }
      }),
  }
}

const UNSIGNED_GROUP_MESSAGE = `This record was not written by a gateway with this secret, so the group's keys are rejected. ${CONFIRM_GROUP_ADVICE}`

const IS_PLAN_MESSAGE =
  'The group is the plan of at least one account, or in "actsFor" of a key. First change them: GET /api/accounts?plan={id} lists the accounts.'

function describeKeyCount(count: number): string {
  const [some, them] = count === 1 ? ['1 key', 'it'] : [`${count} keys`, 'them']
  return `The group still has ${some}. First delete ${them}, or set ${them} to another group or null: PUT /api/keys/{id} with "group".`
}
