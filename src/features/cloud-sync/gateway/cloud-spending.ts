import * as v from 'valibot'
import { createIntegerSchema } from '../../../admin/input.ts'
import { isGatewayError } from '../../../errors.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { Store } from '../../../records/store.ts'
import { COUNTER_COUNT } from '../../limits/ledger/book.ts'
import type { Ledger } from '../../limits/ledger/ledger.ts'
import { MAX_ACCOUNTS, type ScopeUsage, type SpendingRequest, type SpendingResponse } from '../protocol.ts'

/** One side of a replica with its keys and groups, which may have limits. */
export interface SpendingSide {
  store: Pick<Store, 'keys' | 'groups'>
  ledger(): Promise<Ledger>
  replicaId: string
}

/** The last minute of the year 9999. Later dates have a different format. */
const LAST_MINUTE = 4_223_371_679

/** A count from the other side. */
export const countSchema = createIntegerSchema(0, Number.MAX_SAFE_INTEGER)

/** The usage of a key or group on the other side. */
export const scopeUsageSchema = v.object({
  scope: v.picklist(['key', 'group']),
  id: v.string(),
  epoch: countSchema,
  number: countSchema,
  minute: v.pipe(countSchema, v.maxValue(LAST_MINUTE)),
  used: v.pipe(v.array(countSchema), v.minLength(COUNTER_COUNT), v.maxLength(COUNTER_COUNT)),
})

const responseSchema = v.object({
  accounts: v.array(scopeUsageSchema),
  next: v.exactOptional(v.pipe(v.string(), v.nonEmpty())),
})

/**
 * Reports the usage of this gateway's limited keys and groups to the cloud, then applies the cloud's usage. Sends nothing if there are no limits.
 * `send` resolves to the response, or to `undefined` if the proxy doesn't support usage messages. Throws `invalid()` for an invalid response.
 */
export async function exchangeSpending(
  side: SpendingSide,
  {
    send,
    createInvalidError,
  }: { send(request: SpendingRequest): Promise<JsonObject | undefined>; createInvalidError(): Error },
): Promise<void> {
  const limitedNames = await listLimitedNames(side)
  if (limitedNames.size === 0) return
  let localSpending = await readSpending(side, limitedNames, '')
  let after: string | undefined = ''
  for (;;) {
    const { accounts, next } = localSpending
    const body = await send({ mirror: side.replicaId, accounts, ...(after !== undefined && { after }) })
    if (!body) return
    const response = v.safeParse(responseSchema, body)
    if (!response.success) throw createInvalidError()
    await applyRemoteSpending(side, limitedNames, response.output.accounts)
    after = response.output.next
    if (next === undefined && after === undefined) return
    localSpending = next === undefined ? { accounts: [] } : await readSpending(side, limitedNames, next)
  }
}

/** Creates the cloud's response. Applies the gateway's usage first, because the gateway may have reset its counters. */
export async function respondToSpending(
  side: SpendingSide,
  { accounts, after }: SpendingRequest,
): Promise<SpendingResponse> {
  const limitedNames = await listLimitedNames(side)
  if (limitedNames.size === 0) return { accounts: [] }
  await applyRemoteSpending(side, limitedNames, accounts)
  return after === undefined ? { accounts: [] } : readSpending(side, limitedNames, after)
}

/** Lists the keys and groups with limits, by account name. */
async function listLimitedNames({ store }: SpendingSide): Promise<ReadonlySet<string>> {
  const [keys, groups] = await Promise.all([store.keys.entries(), store.groups.entries()])
  const formatNames = (scope: ScopeUsage['scope'], entries: typeof keys | typeof groups) =>
    entries.flatMap(({ record: { id, limits } }) => (limits ? formatAccountName({ scope, id }) : []))
  return new Set([...formatNames('key', keys), ...formatNames('group', groups)])
}

async function readSpending(
  { ledger, replicaId }: SpendingSide,
  limitedNames: ReadonlySet<string>,
  after: string,
): Promise<SpendingResponse> {
  const page = await (await ledger()).listSpending(replicaId, { limit: MAX_ACCOUNTS, ...(after !== '' && { after }) })
  return { ...page, accounts: page.accounts.filter((account) => limitedNames.has(formatAccountName(account))) }
}

async function applyRemoteSpending(
  { ledger, replicaId }: SpendingSide,
  limitedNames: ReadonlySet<string>,
  accounts: readonly ScopeUsage[],
): Promise<void> {
  const limitedAccounts = accounts.filter((account) => limitedNames.has(formatAccountName(account)))
  if (limitedAccounts.length === 0) return
  const openedLedger = await ledger()
  await Promise.all(
    limitedAccounts.map((account) =>
      openedLedger.applySpending(replicaId, account).catch((error: unknown) => {
        if (!isGatewayError(error, 'RECORD_DAMAGED')) throw error // requests with damaged counters are rejected anyway
      }),
    ),
  )
}

const formatAccountName = ({ scope, id }: Pick<ScopeUsage, 'scope' | 'id'>) => `${scope}/${id}`
