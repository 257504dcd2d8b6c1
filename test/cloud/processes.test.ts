import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, childProgram } from '../storage/support/children.ts'
import { inFolder } from '../storage/support/folder.ts'
import { times } from '../support/ci.ts'
import { createRandom, type Random } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'

const ENROLLMENT_TOKEN = 'enrollment-token-with-forty-characters-1'
const SECRETS = { home: 'secret-of-the-home-of-forty-characters--', cloud: 'secret-of-the-proxy-of-forty-characters-' }
const ROUNDS = times(60)
const MOST_EDITS = 6
const RECORDS = 4
/** Processes are killed within about the duration of a sync, in ms. */
const WINDOW_MS = 400

type Side = 'home' | 'cloud'
type Program = Awaited<ReturnType<typeof childProgram>>

/** Starts one side as a process that can be killed and restarted. */
async function startEnd(program: Program, { side, folder }: { side: Side; folder: string }) {
  let child: Child
  let port = '0'
  let last = 0
  async function start() {
    child = program.start(side, join(folder, side), SECRETS[side], ENROLLMENT_TOKEN, port)
    port = (await child.output('ready ')).slice('ready '.length)
  }
  await start()

  return {
    side,
    url: `http://127.0.0.1:${port}`,
    /** Rejects if the call fails or the process ends first. */
    async call<Result = unknown>(name: string, ...args: unknown[]): Promise<Result> {
      const number = ++last
      child.go(JSON.stringify([number, name, ...args]))
      const line = await child.output(`${number} `)
      const result = JSON.parse(line.slice(line.indexOf(' ') + 1))
      if (typeof result?.failed === 'string') throw new Error(result.failed)
      return result
    },
    async restart() {
      child.kill('SIGKILL')
      await child.ended()
      last = 0
      await start()
    },
    async end() {
      child.process.stdin?.end()
      await child.ended()
    },
  }
}

type End = Awaited<ReturnType<typeof startEnd>>

/** The states a record may have on one side: the last acknowledged state, and those attempted since. */
type Possible = Map<string, Set<string>>

const GONE = 'gone'

/** Changes a record that only this side changes. The result becomes a possible state, and the only possible one once it is acknowledged. */
async function edit(
  { call, side }: End,
  { random, value, possible }: { random: Random; value: number; possible: Possible },
) {
  const name = `${side}-${random.below(RECORDS)}`
  const isKey = random.below(2) === 0
  const record = `${isKey ? 'key' : 'combo'} ${name}`
  const values = possible.get(record) ?? new Set([GONE])
  possible.set(record, values)
  const isThere = !values.has(GONE) && values.size > 0
  const does = random.below(4)
  const act = async (next: string, name: string, ...args: unknown[]) => {
    values.add(next)
    await call(name, ...args)
    values.clear()
    values.add(next)
  }
  if (does === 0 && isThere) return act(GONE, isKey ? 'keys.delete' : 'combos.delete', name)
  if (!isKey) return act(`model-${value}`, 'combos.put', { id: name, name, models: [`openai/model-${value}`] })
  if (values.has(GONE)) return act('true', 'keys.put', { id: name, name, isActive: true })
  const isActive = value % 2 === 0
  return act(String(isActive), 'keys.put', { id: name, name, isActive })
}

interface Shown {
  keys: Array<{ id: string; name: string; isActive: boolean }>
  combos: Array<{ id: string; name: string; models: string[] }>
}

/** Returns one side's records by their names in `Possible`. */
async function getRecords({ call }: End): Promise<Map<string, string>> {
  const { keys } = await call<Pick<Shown, 'keys'>>('keys.list')
  const { combos } = await call<Pick<Shown, 'combos'>>('combos.list')
  return new Map([
    ...keys.map(({ id, isActive }): [string, string] => [`key ${id}`, String(isActive)]),
    ...combos.map(({ id, models }): [string, string] => [`combo ${id}`, (models[0] ?? '').replace('openai/', '')]),
  ])
}

const test = suite<{ program?: Program }>('a gateway and a cloud proxy as two processes', {})

test.before(async (context) => {
  context.program = await childProgram(new URL('./support/process.ts', import.meta.url))
})
test.after((context) => context.program?.remove())

test(
  `a gateway and a cloud proxy lose no acknowledged change when killed ${ROUNDS} times during syncs`,
  { timeoutMs: 600_000 },
  (context) =>
    inFolder(async (folder) => {
      const program = context.program as Program // set by `before`
      const random = createRandom()
      const recorded = `seed ${random.seed}`
      const cloud = await startEnd(program, { side: 'cloud', folder })
      const home = await startEnd(program, { side: 'home', folder })
      const first = await home.call<{ key: string }>('keys.create', { name: 'first' })
      await home.call('settings.update', { cloudUrl: cloud.url })
      const enabled = await home.call<{ verified: boolean }>('cloud.enable', { enrollmentToken: ENROLLMENT_TOKEN })
      assert.is(enabled.verified, true, recorded)

      const possible: Possible = new Map()
      const counts = { acknowledged: 0, unanswered: 0, synced: 0, unsynced: 0 }
      let value = 0
      for (let round = 0; round < ROUNDS; round++) {
        const editing = [home, cloud].map(async (end) => {
          for (let left = random.below(MOST_EDITS); left > 0; left--) {
            const done = await edit(end, { random, value: ++value, possible }).then(
              () => true,
              () => false,
            )
            if (!done) return void counts.unanswered++
            counts.acknowledged++
          }
        })
        if (random.below(2) === 0) await Promise.all(editing)
        const syncing = home.call('cloud.sync').then(
          () => void counts.synced++,
          () => void counts.unsynced++,
        )
        if (random.below(4) === 0)
          await syncing // kill it during the sync
        else await sleep(random.next() * random.next() * WINDOW_MS)
        const killed = [[home], [cloud], [home, cloud]][random.below(3)] ?? []
        await Promise.all(killed.map((end) => end.restart()))
        await Promise.all([...editing, syncing])
      }

      for (let quiet = 0; quiet < 2; quiet++) await home.call('cloud.sync')
      const [atHome, atCloud] = [await getRecords(home), await getRecords(cloud)]
      assert.equal([...atCloud].toSorted(), [...atHome].toSorted(), `both sides are equal in the end, ${recorded}`)
      const lost = [...possible].filter(([record, values]) => !values.has(atHome.get(record) ?? GONE))
      assert.equal(lost, [], `no record is lost or resurrected, ${recorded}`)
      const { conflicts } = await home.call<{ conflicts: unknown[] }>('cloud.get')
      assert.equal(conflicts, [], `no record was changed on both sides, ${recorded}`)
      assert.ok(
        counts.acknowledged > ROUNDS && counts.unsynced > ROUNDS / 4 && counts.synced > 0,
        `${JSON.stringify(counts)}, ${recorded}`,
      )

      const { keys } = await home.call<{ keys: Array<{ key: string; isActive: boolean }> }>('keys.list')
      assert.ok(keys.some(({ key }) => key === first.key))
      for (const { key, isActive } of keys) {
        const headers = { authorization: `Bearer ${key}` }
        const { status } = await fetch(`${cloud.url}/v1/models`, { headers })
        assert.is(status, isActive ? 200 : 403, recorded)
      }
      await Promise.all([home.end(), cloud.end()])
    }),
)
