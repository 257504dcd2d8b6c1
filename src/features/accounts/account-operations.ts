import * as v from 'valibot'
import {
  closedObject,
  createChoiceSchema,
  createInputError,
  fields,
  type OrUnset,
  parseInput,
  parsePut,
} from '../../admin/input.ts'
import { getTimestamp, pickOutputFields, requirePresent } from '../../admin/record-operations.ts'
import { createInputSchema } from '../../admin/schemas.ts'
import { listLimitWarnings, type WithWarnings, withWarnings } from '../../admin/warnings.ts'
import { isGatewayError } from '../../errors.ts'
import { isAccountId, isAccountRef } from '../../lib/account-ids.ts'
import {
  type AccountNames,
  type AccountProfile,
  type AccountRecord,
  decryptProfile,
  isSignedAccount,
  listAccounts,
  readAccount,
} from '../../records/account-records.ts'
import type { WritableStore } from '../../records/writable-store.ts'
import {
  type AccountPut,
  type AppAccount,
  type AppAccountChange,
  accountFields,
} from '../../types/records/account-fields.ts'
import type { Clock, Storage } from '../../types.ts'
import type { ScopeName } from '../limits/ledger/ledger.ts'
import { type AccountInput, AccountWriter } from './account-writer.ts'
import type { Accounts } from './accounts.ts'
import { UNSIGNED_ACCOUNT_MESSAGE } from './known-accounts.ts'

/**
 * The accounts of your app's users and customers. An account exists as soon as your app names it. Use these operations to list and change accounts.
 * Identify an account by its ID or its ref. The operations accept `Input` as well as the typed input: `never` for in-process calls, `unknown` for
 * HTTP bodies.
 */
export interface AccountOperations<Input = never> {
  /** Lists accounts in order of their refs, which is arbitrary. Pass `after` to get the next page; it is absent on the last page. */
  list(query?: AccountsQuery | Input): Promise<{ accounts: AccountView[]; after?: string }>
  get(id: string): Promise<AccountView>
  /** Creates the account with this `id`, or changes the given fields. Doesn't write if nothing would change. The account no longer expires. */
  put(input: OrUnset<AccountPut> | Input): Promise<AccountView & WithWarnings>
  /** Takes effect with the next request. Omitted fields stay the same; `null` removes a field. The account no longer expires. */
  update(id: string, input: AppAccountChange | Input): Promise<AccountView & WithWarnings>
  /**
   * Rejects the account's requests with `ACCOUNT_PAUSED` and ends in-flight requests within a second. Also works for an ID that the gateway has never
   * seen.
   */
  pause(id: string): Promise<AccountView>
  resume(id: string): Promise<AccountView>
  /** Makes all instances call your app's `identify` again for the account and revokes the account's tokens. */
  revoke(id: string): Promise<AccountView>
  /**
   * Deletes the account's record and counters. Its usage records stay under the ref. With `usage: 'keep'` (the default), they still show the ID.
   * `'erase'` removes the ID, even if the account was already deleted. If your app names the account again, it becomes a new account. Rejects with
   * `INVALID_REQUEST` while the account has API keys.
   */
  delete(id: string, input?: AccountDeletion | Input): Promise<{ success: true }>
}

/** Which accounts to list. Default: the first 100. */
export interface AccountsQuery {
  /** Maximum accounts per page, 1 to 1,000. */
  limit?: number
  /** The `after` of the previous page. */
  after?: string
  /** Only active or paused accounts. */
  state?: 'active' | 'paused'
  /** Only accounts with this plan ID. */
  plan?: string
}

/** Options for deleting an account. */
export interface AccountDeletion {
  usage?: 'keep' | 'erase'
}

/** An account, as the management API returns it. */
export interface AccountView extends AppAccount {
  /** Why the gateway rejects the account's requests: a problem with its record. Absent if there is none. */
  error?: string
}

const LIMIT_MESSAGE = 'must be a whole number from 1 to 1000'
const ignoredFields = ['warnings', 'error']

export const accountInputs = {
  list: closedObject({
    limit: v.exactOptional(
      v.pipe(
        v.number(LIMIT_MESSAGE),
        v.integer(LIMIT_MESSAGE),
        v.minValue(1, LIMIT_MESSAGE),
        v.maxValue(1_000, LIMIT_MESSAGE),
      ),
    ),
    after: v.exactOptional(v.pipe(fields.text, v.check(isAccountRef, 'must be the "after" value of a previous page'))),
    state: v.exactOptional(createChoiceSchema(['active', 'paused'])),
    plan: v.exactOptional(v.pipe(fields.text, v.maxLength(512, 'must not be longer than 512 characters'))),
  }),
  update: createInputSchema(accountFields, 'update', { ignoredFields }),
  put: createInputSchema(accountFields, 'put'),
  delete: closedObject({ usage: v.exactOptional(createChoiceSchema(['keep', 'erase'])) }),
}

interface AccountOperationsDependencies {
  store: WritableStore
  clock: Clock
  /** Lets pending requests run during a long operation. */
  nextTurn(): Promise<void>
  accounts(): Promise<Accounts>
  /** Removes a deleted account's counters. Never rejects. */
  forgetLimits(scope: ScopeName): Promise<void>
  revokeTokens(ref: string): Promise<void>
}

/** Creates the account operations and the lookup functions that key and usage operations need. */
export function createAccountOperations(deps: AccountOperationsDependencies): {
  operations: AccountOperations<unknown>
  names: AccountNames
  /** Resolves to whether any account has this plan. Reads all accounts if none does. */
  hasAccounts(plan: string): Promise<boolean>
  /**
   * Returns an account's ref. Stores the account if it isn't stored yet and keeps it from expiring. Throws `INVALID_REQUEST` for a ref without an
   * account.
   */
  resolveAccount(idOrRef: string): Promise<string>
} {
  const { store, clock, forgetLimits, revokeTokens } = deps
  const { storage } = store
  const writer = new AccountWriter(store, clock)
  const show = (record: AccountRecord) => showAccount(record, store)

  const showWithWarnings = async (record: AccountRecord) =>
    withWarnings(await show(record), listLimitWarnings(record, storage))

  async function findAccountRecord(ref: string, includeDeleted = false): Promise<AccountRecord> {
    const { record } = (await readAccount(storage, ref)) ?? {}
    return requirePresent(includeDeleted || !record?.deletedAt ? record : undefined, 'Account')
  }

  const resolveRef = async (idOrRef: string) => (await deps.accounts()).refs.resolve(idOrRef)

  const toId = (idOrRef: string) => (isAccountId(idOrRef) ? idOrRef : undefined)

  async function checkPlan(plan: string | null | undefined): Promise<void> {
    if (typeof plan === 'string' && !(await store.groups.get(plan)))
      throw createInputError(`"plan" must be the ID of a group; no group has the ID "${plan}"`)
  }

  async function saveChanges(ref: string, changes: AccountInput & { tokensFrom?: string }, id?: string) {
    const savedRecord = await writer.save(ref, changes, id)
    const accounts = await deps.accounts()
    accounts.notifyChanged(ref)
    return savedRecord
  }

  /** Changes the account with this ref or ID. Creates the account if the ID has never been seen. */
  async function updateOrCreate(
    idOrRef: string,
    changes: AccountInput & { tokensFrom?: string },
  ): Promise<AccountView> {
    return show(await saveChanges(await resolveRef(idOrRef), changes, toId(idOrRef)))
  }

  const operations: AccountOperations<unknown> = {
    async list(query = {}) {
      const { records, ...nextPage } = await findPage(storage, parseInput(accountInputs.list, query))
      return { accounts: await Promise.all(records.map(show)), ...nextPage }
    },

    get: async (id) => show(await findAccountRecord(await resolveRef(id))),

    async put(input) {
      const { id, ...fields } = parsePut(accountInputs.put, input)
      if (!isAccountId(id)) throw createInputError(INVALID_ID_MESSAGE)
      await checkPlan(fields.plan)
      return showWithWarnings(await saveChanges(await resolveRef(id), fields as AccountInput, id))
    },

    async update(id, input) {
      const changes: AccountInput = parseInput(accountInputs.update, input)
      if (Object.keys(changes).length === 0)
        throw createInputError('Send "isActive", "plan", or another field to change.')
      await checkPlan(changes.plan)
      return showWithWarnings(await saveChanges(await resolveRef(id), changes))
    },

    async pause(id) {
      const account = await updateOrCreate(id, { isActive: false, tokensFrom: getTimestamp(clock) })
      await revokeTokens(account.ref)
      return account
    },

    resume: (id) => updateOrCreate(id, { isActive: true }),

    async revoke(id) {
      const account = await updateOrCreate(id, { tokensFrom: getTimestamp(clock) })
      await revokeTokens(account.ref)
      return account
    },

    async delete(id, input = {}) {
      const { usage = 'keep' } = parseInput(accountInputs.delete, input)
      const ref = await resolveRef(id)
      const record = await findAccountRecord(ref, usage === 'erase')
      const keys = await store.keys.entries({ fresh: true })
      const keyCount = keys.filter((key) => key.record.account === ref).length
      if (keyCount > 0) throw createInputError(createHasKeysMessage(keyCount))
      await writer.remove(record, usage)
      await revokeTokens(ref)
      await forgetLimits({ scope: 'account', id: ref })
      ;(await deps.accounts()).notifyChanged(ref)
      return { success: true }
    },
  }

  return {
    operations,
    names: { findRef: resolveRef, findNames: (refs) => findNames(refs, store) },
    hasAccounts: (plan) => hasAccounts(plan, { storage, nextTurn: deps.nextTurn }),
    async resolveAccount(idOrRef) {
      const id = toId(idOrRef)
      const ref = await resolveRef(idOrRef)
      if (id === undefined && !isAccountRef(idOrRef))
        throw createInputError(INVALID_ID_MESSAGE.replace('id', 'account'))
      await saveChanges(ref, {}, id).catch((error: unknown) => {
        throw isGatewayError(error, 'NOT_FOUND') ? createInputError(`No account has the ref "${idOrRef}"`) : error
      })
      return ref
    },
  }
}

/**
 * Returns the account as the API shows it. Doesn't throw for a record that is unsigned or can't be decrypted, so a list can still show all other
 * accounts.
 */
async function showAccount(record: AccountRecord, { keyring }: Pick<WritableStore, 'keyring'>): Promise<AccountView> {
  const openedKeyring = await keyring()
  const profile = await decryptProfile(openedKeyring, record).catch((): AccountProfile => ({ id: '' }))
  const isValid = profile.id !== '' && (await isSignedAccount(openedKeyring, record.ref, record))
  const isActive = record.isActive !== false
  const account = pickOutputFields(accountFields, { ...record, ...profile, isActive })
  return { ...account, ...(!isValid && { error: UNSIGNED_ACCOUNT_MESSAGE }) }
}

/** Reads accounts until the page is full or `MAX_PAGES` pages have been read. */
async function findPage(
  storage: Storage,
  { limit = 100, after: startAfter, state, plan }: AccountsQuery,
): Promise<{ records: AccountRecord[]; after?: string }> {
  const isMatch = (record: AccountRecord) =>
    record.deletedAt === undefined &&
    (state === undefined || (record.isActive === false) === (state === 'paused')) &&
    (plan === undefined || record.plan === plan)
  const records: AccountRecord[] = []
  let after = startAfter
  let lastRef: string | undefined
  for (let pageCount = 0; pageCount < MAX_PAGES && records.length < limit; pageCount++) {
    const page = await listAccounts(storage, { after, limit: PAGE_SIZE })
    const matchingRecords = page.accounts.map(({ record }) => record).filter(isMatch)
    const selectedRecords = matchingRecords.slice(0, limit - records.length)
    records.push(...selectedRecords)
    lastRef = selectedRecords.length < matchingRecords.length ? selectedRecords.at(-1)?.ref : page.nextAfter
    if (lastRef === undefined) break
    after = lastRef
  }
  return { records, ...(lastRef !== undefined && { after: lastRef }) }
}

/** Returns account names by ref, or an account's ID if it has no name. Omits accounts that aren't stored. */
async function findNames(
  refs: readonly string[],
  { storage, keyring }: Pick<WritableStore, 'storage' | 'keyring'>,
): Promise<Map<string, string>> {
  const openedKeyring = await keyring()
  const nameEntries = refs.map(async (ref): Promise<Array<[ref: string, name: string]>> => {
    const { record } = (await readAccount(storage, ref)) ?? {}
    if (!record) return []
    const { id, name = id } = await decryptProfile(openedKeyring, record).catch((): AccountProfile => ({ id: ref }))
    return [[ref, name]]
  })
  return new Map((await Promise.all(nameEntries)).flat())
}

async function hasAccounts(
  plan: string,
  { storage, nextTurn }: { storage: Storage; nextTurn(): Promise<void> },
): Promise<boolean> {
  for (let after: string | undefined; ; ) {
    const { accounts, nextAfter } = await listAccounts(storage, { after, limit: PAGE_SIZE })
    if (accounts.some(({ record }) => record.plan === plan && record.deletedAt === undefined)) return true
    if (nextAfter === undefined) return false
    after = nextAfter
    await nextTurn()
  }
}

/** Records per read, and maximum reads per page of a filtered list. */
const PAGE_SIZE = 1_000
const MAX_PAGES = 20

const INVALID_ID_MESSAGE =
  '"id" must be 1 to 200 characters, in Unicode\'s composed form, without control characters and surrounding blanks'

function createHasKeysMessage(keyCount: number): string {
  const [keysText, pronoun] = keyCount === 1 ? ['1 API key', 'it'] : [`${keyCount} API keys`, 'them']
  return `The account still has ${keysText}. Delete ${pronoun} first: DELETE /api/keys/{id}.`
}
