import { fileStorage } from '../../adapters/storage/file.ts'
import { createGateway } from '../../src/gateway.ts'
import { childProgram } from '../storage/support/children.ts'
import { inFolder } from '../storage/support/folder.ts'
import { isCi, isFull, randomCases } from '../support/ci.ts'
import { roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { openAccounts } from './support/open-accounts.ts'

const STORED = randomCases(1_000_000, 50_000)
/**
 * The number of accounts that fills all caches. A million would take too long, because one request takes 0.6 ms of CPU time, including the writes for
 * a new account.
 */
const WARM_UP = isCi ? 30_000 : 2_000
/** The number of accounts served in total. Those after the warm-up must not need more memory. */
const SERVED = isFull ? 70_000 : isCi ? 45_000 : 4_000
const MAX_MIB = 1_024
/** The maximum ratio of the startup time with a full store to the startup time with an empty one. */
const START_RATIO = 1.2

const IDLE_MS = 90 * 24 * 60 * 60 * 1_000

const REJECTED = randomCases(100_000, 5_000)

const test = suite<{ program?: Awaited<ReturnType<typeof childProgram>> }>('many accounts', {})
const slowly = { timeoutMs: 600_000 }

test.before(async (context) => {
  context.program = await childProgram(new URL('./support/memory-process.ts', import.meta.url))
})
test.after(({ program }) => program?.remove())

interface Filled {
  served: number
  startMs: number
  peakMiB: number
  grownMiB: number
}

test(
  `a process with ${STORED.toLocaleString('en')} accounts stays within ${MAX_MIB} MiB, and starts as fast as one without any`,
  slowly,
  ({ program }) =>
    inFolder((full) =>
      inFolder(async (empty) => {
        const fill = async (path: string, warmUp: number, accounts: number): Promise<Filled> => {
          const line = await program?.start(path, String(warmUp), String(accounts)).output('filled ')
          return JSON.parse(line?.slice('filled '.length) ?? '')
        }
        for (const path of [full, empty]) await setUp(path)
        await store(full, STORED)

        const ratios = await roundsUntil(START_RATIO, async () => {
          const [withAll, withNone] = [await fill(full, 0, 0), await fill(empty, 0, 0)]
          return withAll.startMs / withNone.startMs
        })
        assert.ok(Math.min(...ratios) <= START_RATIO, `startup time relative to an empty store: ${ratios}`)

        const { served, peakMiB, grownMiB } = await fill(full, WARM_UP, SERVED)
        assert.is(served, SERVED)
        const atMillion = peakMiB + Math.max(0, grownMiB) * ((1_000_000 - SERVED) / (SERVED - WARM_UP))
        console.log(
          `  ${SERVED} accounts: peak ${peakMiB.toFixed()} MiB, live memory grew by ${grownMiB.toFixed(1)} MiB`,
        )
        assert.ok(peakMiB <= MAX_MIB, `${peakMiB} MiB`)
        if (isCi) assert.ok(atMillion <= MAX_MIB, `${atMillion} MiB`) // fewer accounts don't fill the caches
      }),
    ),
)

async function setUp(path: string): Promise<void> {
  const storage = fileStorage({ path, logger: false })
  const { api, close } = createGateway({ storage, logger: false })
  await api.connections.create({ provider: 'one', providerSpecificData: { baseUrl: 'http://one.test' } })
  await close()
  await storage.close?.()
}

/** Stores one account's record under many refs, each with an idle expiry. */
async function store(path: string, count: number): Promise<void> {
  const storage = fileStorage({ path, logger: false })
  const { api, close } = createGateway({ storage, logger: false })
  const { ref } = await api.accounts.put({ id: 'user', name: 'User' })
  await close()
  const { value = '' } = (await storage.get(`accounts/${ref}`)) ?? {}
  const write = (index: number) => {
    const other = `a_${index.toString(2).padStart(26, '0').replaceAll('0', 'b').replaceAll('1', 'c')}`
    return storage.set(`accounts/${other}`, value.replaceAll(ref, other), { ttlMs: IDLE_MS })
  }
  for (let index = 0; index < count; index += 500)
    await Promise.all(Array.from({ length: 500 }, (_, more) => write(index + more)))
  await storage.close?.()
}

test(`${REJECTED} random rejected ids don't change the storage`, slowly, async () => {
  const { accounts, dump } = openAccounts({ options: { newPerMinute: 1 } })
  await accounts.getAccount({ account: 'first' })
  const before = await dump()
  let [requestCount, rejected] = [0, 0]
  const send = async () => {
    while (requestCount < REJECTED)
      await accounts.getAccount({ account: `id-${Math.random()}-${requestCount++}` }).catch(() => rejected++)
  }
  await Promise.all(Array.from({ length: 64 }, send))
  assert.is(rejected, REJECTED)
  assert.is(await dump(), before)
})
