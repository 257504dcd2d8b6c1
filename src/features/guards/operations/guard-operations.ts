import * as v from 'valibot'
import {
  closedObject,
  createChoiceSchema,
  createInputError,
  fields,
  type OrUnset,
  parseInput,
  parsePut,
} from '../../../admin/input.ts'
import {
  getTimestamp,
  getTimestampAfter,
  isSameJson,
  pickOutputFields,
  requirePresent,
  withChange,
} from '../../../admin/record-operations.ts'
import { createInputSchema, createSchema, mapFields } from '../../../admin/schemas.ts'
import { describeUnreadable, shortenSecret } from '../../../admin/shortened-secrets.ts'
import { requireStored } from '../../../records/defined-in-code.ts'
import { type DecryptedGuard, decryptHeaders, encryptHeaders } from '../../../records/guard-records.ts'
import type { StoredGuard } from '../../../records/record-collections.ts'
import { retryOnConflict } from '../../../records/storage-access.ts'
import type { WritableStore } from '../../../records/writable-store.ts'
import {
  type GuardPut,
  type GuardRecord,
  type GuardRecordChange,
  guardFields,
  type NewGuard,
} from '../../../types/records/guard-fields.ts'
import { guardNames } from '../../../types/records/limit-fields.ts'
import type { Clock } from '../../../types.ts'
import { findGuardProblem } from '../guard-problem.ts'
import { createGuard, UNSIGNED_GUARD_MESSAGE, type UnstoredGuard } from '../named-guards.ts'
import { applyChange } from './guard-headers.ts'
import { describeGuardUses } from './guard-uses.ts'
import { createGuardTester, type GuardTestResult, type GuardTrial, MAX_TEST_LENGTH } from './try-guards.ts'

/**
 * Operations on guards that are stored as records. They accept `Input` as well as the typed input: `never` for in-process calls, `unknown` for HTTP
 * bodies.
 */
export interface GuardOperations<Input = never> {
  /** Lists the guards in order of creation. Guards that are functions in code aren't listed. */
  list(): Promise<{ guards: GuardView[] }>
  get(name: string): Promise<GuardView>
  /** Rejects with `NAME_TAKEN`, or with `INVALID_REQUEST` for an option that the kind doesn't support. */
  create(input: NewGuard | Input): Promise<GuardView>
  /** Takes effect with the next request. Omitted fields stay the same; `null` removes a field. */
  update(name: string, input: GuardRecordChange | Input): Promise<GuardView>
  /**
   * Creates the guard with this name, or changes the given fields if it exists. Writes nothing if nothing would change, so you can call it at every
   * startup. Rejects with `INVALID_REQUEST` if a field is `undefined`.
   */
  put(input: OrUnset<GuardPut> | Input): Promise<GuardView>
  /** Rejects with `INVALID_REQUEST` if the guard is in use; the error lists where. */
  delete(name: string): Promise<{ success: true }>
  /** Checks text with guards without storing anything. Guards may call models. */
  test(input: GuardTrial | Input): Promise<GuardTestResult>
}

/** A guard, as the management API returns it. */
export interface GuardView extends GuardRecord {
  /** Why the gateway rejects requests that need the guard. Absent if the guard works. */
  error?: string
}

export const guardInputs = {
  create: createInputSchema(guardFields, 'create'),
  update: createInputSchema(guardFields, 'update', { ignoredFields: ['error'] }),
  put: createInputSchema(guardFields, 'put'),
  test: closedObject({
    text: v.pipe(fields.text, v.maxLength(MAX_TEST_LENGTH, `must not be longer than ${MAX_TEST_LENGTH} characters`)),
    guards: v.exactOptional(createSchema(guardNames)),
    guard: v.exactOptional(createInputSchema(guardFields, 'create')),
    stage: v.exactOptional(createChoiceSchema(['request', 'answer'])),
  }),
}

interface GuardOperationDependencies extends Omit<Parameters<typeof createGuardTester>[0], 'findGuard'> {
  store: WritableStore
  clock: Clock
}

export function createGuardOperations(deps: GuardOperationDependencies): GuardOperations<unknown> {
  const { store, clock } = deps
  const { guards } = store

  /** Decrypts the headers. Resolves to `undefined` if that fails, so the other fields can still be shown. */
  const decryptRecord = (record: StoredGuard): Promise<DecryptedGuard | undefined> =>
    decryptHeaders(store.keyring, record).catch(() => undefined)

  async function diagnose(
    record: StoredGuard,
    decryptedGuard: DecryptedGuard | undefined,
  ): Promise<string | undefined> {
    if (!(await store.isSignedGuard(record))) return UNSIGNED_GUARD_MESSAGE
    return decryptedGuard ? findGuardProblem(decryptedGuard) : describeUnreadable('headers')
  }

  async function toView(record: StoredGuard): Promise<GuardView> {
    const decryptedGuard = await decryptRecord(record)
    const error = await diagnose(record, decryptedGuard)
    const headers = decryptedGuard?.headers && mapFields(decryptedGuard.headers, shortenSecret)
    return {
      ...pickOutputFields(guardFields, { ...record, headers }),
      ...(error !== undefined && { error }),
    }
  }

  const requireGuard = async (name: string) => requirePresent(await guards.get(String(name)), 'Guard')

  /** Creates a guard. Resolves to `false` if the name is taken. With `replacesDamaged`, also replaces an unreadable record. */
  async function addGuard(
    { name, kind, ...options }: NewGuard,
    { replacesDamaged = false }: { replacesDamaged?: boolean } = {},
  ): Promise<StoredGuard | false> {
    const now = getTimestamp(clock)
    const record = { ...withChange({ name, kind }, options), createdAt: now, updatedAt: now }
    await validateGuard(record)
    const encryptedRecord = await encryptHeaders(store.keyring, record)
    const isAdded =
      (await guards.insert(name, encryptedRecord)) ||
      (replacesDamaged && (await guards.replaceDamaged(name, encryptedRecord)))
    return isAdded && encryptedRecord
  }

  async function changeGuard(name: string, changes: Omit<GuardRecordChange, 'name'>): Promise<StoredGuard> {
    requireStored(await requireGuard(name))
    const changedRecord = await guards.update(name, async (current) => {
      const isSigned = await store.isSignedGuard(current)
      const isComplete = changes.kind !== undefined && (changes.url !== undefined || !changes.headers)
      if (!isComplete && !isSigned) throw createInputError(UNSIGNED_GUARD_MESSAGE)
      const changedGuard = applyChange(current, changes, await decryptRecord(current))
      await validateGuard(changedGuard)
      return encryptHeaders(store.keyring, { ...changedGuard, updatedAt: getTimestampAfter(current.updatedAt, clock) })
    })
    return requirePresent(changedRecord, 'Guard')
  }

  const { test } = createGuardTester({
    ...deps,
    async findGuard(name) {
      const record = await requireGuard(name)
      const decryptedGuard = await decryptRecord(record)
      const problem = await diagnose(record, decryptedGuard)
      if (problem !== undefined || !decryptedGuard)
        throw createInputError(`The guard "${name}" cannot be used: ${problem}`)
      return createGuard(decryptedGuard)
    },
  })

  return {
    list: async () => ({ guards: await Promise.all((await guards.all()).map(toView)) }),
    get: async (name) => toView(await requireGuard(name)),

    async create(input) {
      const addedRecord = await addGuard(parseInput(guardInputs.create, input))
      if (!addedRecord) throw createInputError('"name" is already the name of another guard')
      return toView(await requireGuard(addedRecord.name))
    },

    async update(name, input) {
      const { name: sentName = name, ...changes } = parseInput(guardInputs.update, input)
      if (sentName !== name) throw createInputError('"name" cannot be changed; omit it')
      if (Object.keys(changes).length === 0) throw createInputError('Send "mode", "on", or another field to change.')
      await changeGuard(name, changes)
      return toView(await requireGuard(name))
    },

    async put(input) {
      const { name, ...fields } = parsePut(guardInputs.put, input)
      await retryOnConflict<StoredGuard>(async () => {
        const currentRecord = await guards.get(name)
        if (!currentRecord) return addGuard(withChange({ name, kind: fields.kind }, fields), { replacesDamaged: true })
        const decryptedGuard = await decryptRecord(currentRecord)
        const isUnchanged =
          (await store.isSignedGuard(currentRecord)) &&
          isSameJson(decryptedGuard, applyChange(currentRecord, fields, decryptedGuard))
        return isUnchanged ? currentRecord : changeGuard(name, fields)
      })
      return toView(await requireGuard(name))
    },

    async delete(name) {
      requireStored(await requireGuard(name))
      const uses = await describeGuardUses(store, name)
      if (uses !== undefined) throw createInputError(`The guard is still used by ${uses}. Remove it there first.`)
      requirePresent(await guards.remove(name), 'Guard')
      return { success: true }
    },

    async test(input) {
      const trial = parseInput(guardInputs.test, input) as GuardTrial // the entries and the type come from the same fields
      if (!trial.guards && !trial.guard) throw createInputError('Send "guards" or "guard", or both.')
      if (trial.guard) await validateGuard(trial.guard)
      return test(trial)
    },
  }
}

/** Throws `INVALID_REQUEST` for a guard with missing, invalid, or unsupported options. */
async function validateGuard(record: UnstoredGuard): Promise<void> {
  const problem = await findGuardProblem(record)
  if (problem !== undefined) throw createInputError(problem.replace(/^\w+\(\)\.(\S+) /, '"$1" '))
}
