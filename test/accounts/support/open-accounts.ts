import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { isGatewayError } from '../../../src/errors.ts'
import { type AccountOptions, createAccounts } from '../../../src/features/accounts/accounts.ts'
import type { GroupRecord } from '../../../src/records/record-collections.ts'
import { createStore } from '../../../src/records/store.ts'
import { getWritableStore } from '../../../src/records/writable-store.ts'
import type { Storage } from '../../../src/types.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'

/** Opens the accounts of one gateway without the rest of its request handling. */
export function openAccounts({
  clock = fakeClock(),
  storage = memoryStorage({ clock }),
  options,
  ...input
}: {
  clock?: FakeClock
  storage?: Storage
  options?: AccountOptions
  secret?: string | undefined
} = {}) {
  const secret = 'secret' in input ? input.secret : 'a secret that is long enough for the keyring of a test'
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const logger = { warn() {}, error() {}, info() {}, debug() {} }
  const store = createStore({ storage, clock, logger, secret, nextTurn: async () => {}, onError })
  const accounts = createAccounts({ store, clock, options, onError })
  const writable = getWritableStore(store, clock)
  return {
    accounts,
    clock,
    storage,
    errors,
    /** Writes a group that serves as a plan. */
    putPlan: (plan: Partial<GroupRecord> & { id: string }) =>
      writable.groups.upsert(plan.id, {
        name: plan.id,
        isActive: true,
        createdAt: '2026-01-01T00:00:00.000Z',
        ...plan,
      }),
    /** Admits an account and stores it, as the account's first attempt would. */
    async use(...args: Parameters<typeof accounts.getAccount>) {
      const account = await accounts.getAccount(...args)
      await accounts.markSeen(account)
      return account
    },
    /** Returns the error code if the account is rejected, otherwise `ok`. */
    tell: (...args: Parameters<typeof accounts.getAccount>) =>
      accounts.getAccount(...args).then(
        () => 'ok',
        (error: unknown) => (isGatewayError(error) ? `${error.status} ${error.code}` : String(error)),
      ),
    dump: async () => (await storage.list('')).map(({ key, value }) => `${key} ${value}`).join('\n'),
    refsOf: async () => (await storage.list('accounts/')).map(({ key }) => key),
  }
}
