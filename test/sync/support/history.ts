import fc from 'fast-check'
import { assert } from '../../support/suite.ts'
import type { Fault } from './faults.ts'
import { check, type Event, type Log } from './oracle.ts'
import { openSide } from './sides.ts'
import {
  createTags,
  createWorld,
  type Edit,
  furnish,
  getClock,
  getView,
  isRefused,
  kinds,
  perform,
  type SideName,
  type View,
  type World,
} from './world.ts'

/** A step in a history. `death` kills the process of a side at a write. */
export type Step =
  | { step: 'edit'; side: SideName; edit: Edit; death?: Death | undefined }
  | { step: 'sync'; faults: readonly Fault[]; death?: Death | undefined }
  | { step: 'sync'; faults: readonly Fault[]; death?: undefined; meanwhile: Meanwhile }
  | { step: 'restart'; side: SideName }

/** An edit just before a write of a sync. */
interface Meanwhile {
  side: SideName
  writes: number
  edit: Edit
}

interface Death {
  side: SideName
  writes: number
  isMade: boolean
}

export const side = fc.constantFrom<SideName>('home', 'cloud')
const pick = fc.nat(2)
const some = fc.constantFrom('create', 'change', 'change', 'delete', 'pause', 'pause', 'resume')
const rare = fc.constantFrom('swap combos', 'require keys', 'give another value')
export const edit: fc.Arbitrary<Edit> = fc.record({
  do: fc.oneof({ weight: 8, arbitrary: some }, { weight: 1, arbitrary: rare }),
  what: fc.constantFrom(...kinds, 'keys', 'combos', 'combos', 'connections'),
  pick,
}) as fc.Arbitrary<Edit> // built from the fields of edits
export const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('none' as const) },
  { weight: 3, arbitrary: fc.constantFrom('lost request', 'lost answer', 'twice') },
  { weight: 2, arbitrary: fc.record({ replay: fc.nat(6) }) },
)
const death: fc.Arbitrary<Death | undefined> = fc.option(fc.record({ side, writes: fc.nat(9), isMade: fc.boolean() }), {
  nil: undefined,
  freq: 3,
})

/** `variant` selects the IDs of the first records. */
export interface History {
  steps: Step[]
  variant: number
}

/** Generates histories with edits on these sides. */
export const histories = (...sides: SideName[]): fc.Arbitrary<History> =>
  fc.record({ steps: getSteps(sides), variant: fc.nat(7) })

const getSteps = (sides: SideName[]): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ step: fc.constant('edit' as const), side: fc.constantFrom(...sides), edit, death }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ step: fc.constant('sync' as const), faults: fc.array(fault, { maxLength: 4 }), death }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          step: fc.constant('sync' as const),
          faults: fc.array(fault, { maxLength: 3 }),
          meanwhile: fc.record({ side: fc.constantFrom(...sides), writes: fc.nat(9), edit }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ step: fc.constant('restart' as const), side }) },
    ),
    { minLength: 4, maxLength: 12 },
  )

/** Runs a history until both sides have settled, and checks the invariants. */
export async function run({ steps, variant }: History): Promise<World> {
  const world = await createWorld(variant)
  const log: Log = { events: [], attempts: [], expected: new Set() }
  let base: View | undefined = await world.view('home')
  let at = 0
  const initial = base

  async function sync(faults: readonly Fault[], meanwhile?: Meanwhile): Promise<void> {
    const isComplete = await syncWhole(faults, meanwhile)
    world.restart()
    base = isComplete && !meanwhile ? await world.view('home') : undefined
    log.attempts.push({ at, isComplete })
  }

  async function editNow(by: SideName, item: Edit, isAlone = true): Promise<void> {
    const before = await world.view(by)
    await world.edit(by, item)
    if (isAlone) world.restart()
    world.restart()
    log.events.push(...changes(before, await world.view(by), { at, side: by }))
  }

  async function syncWhole(faults: readonly Fault[], meanwhile?: Meanwhile): Promise<boolean> {
    if (meanwhile) {
      base = undefined
      const { side: by, writes, edit: one } = meanwhile
      world.interruptAfter(by, writes, () => editNow(by, one, false))
    }
    if (base) for (const id of await apart(world, base)) log.expected.add(id)
    return world.sync(faults)
  }

  for (const step of steps) {
    at++
    if (step.step === 'restart') {
      world.restart(step.side)
      continue
    }
    if (step.death) world.dieAfter(step.death.side, step.death.writes, step.death.isMade)
    if (step.step === 'sync') {
      const meanwhile = 'meanwhile' in step ? step.meanwhile : undefined
      await sync(step.faults, meanwhile)
      if (meanwhile) world.interruptAfter(meanwhile.side, Number.POSITIVE_INFINITY, async () => {})
    } else {
      await editNow(step.side, step.edit)
    }
    if (step.death) world.dieAfter(step.death.side, Number.POSITIVE_INFINITY, false)
  }
  world.restart('home')
  world.restart('cloud')
  for (const _ of Array.from({ length: 3 })) {
    at++
    await sync([])
  }
  await check(world, log, initial)
  await checkReplay(world, steps)
  return world
}

/** Checks that, if only one side was edited, the replica has the same data as a store that isn't synced. */
async function checkReplay(world: World, steps: readonly Step[]): Promise<void> {
  if (steps.some((step) => 'meanwhile' in step)) return // such an edit isn't guaranteed to happen
  const edits = steps.flatMap((step) => (step.step === 'edit' ? [step] : []))
  if (new Set(edits.map(({ side }) => side)).size > 1 || edits.some(({ death, side }) => death?.side === side)) return
  const alone = openSide({ side: 'gateway', clock: getClock(() => 0) })
  const tag = createTags()
  await furnish(alone, tag)
  for (const { edit } of edits)
    await perform(alone, edit, tag).catch((error: unknown) => {
      if (!isRefused(error)) throw error
    })
  assert.equal(
    getValues(await world.view('cloud')),
    getValues(await getView(alone)),
    "the replica matches a store that isn't synced",
  )
  assert.equal(world.conflicts, [], 'edits on one side never conflict')
}

/** Returns the contents of records without their IDs and key values, which are random. */
const getValues = (view: View): string[] =>
  [...view]
    .map(([id, { tag, isActive }]) => {
      const [collection] = id.split('/')
      const [name] = collection === 'keys' ? JSON.parse(tag) : [tag]
      return JSON.stringify([collection, name, isActive])
    })
    .sort()

/** Returns the records that both sides have changed since they were last equal. */
async function apart(world: World, base: View): Promise<string[]> {
  const [home, cloud] = [await world.view('home'), await world.view('cloud')]
  const ids = new Set([...home.keys(), ...cloud.keys(), ...base.keys()])
  return [...ids].filter((id) => {
    const [was, one, other] = [base, home, cloud].map((view) => view.get(id)?.tag)
    return id !== 'settings/settings' && one !== was && other !== was && one !== other
  })
}

export function changes(before: View, after: View, where: { at: number; side: SideName }): Event[] {
  const events: Event[] = []
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(id), after.get(id)]
    const isSetAnew = is !== undefined && is.edit !== was?.edit
    const isOther = was?.tag !== is?.tag || (isSetAnew && is.isActive === undefined)
    if (isOther) events.push({ ...where, id, what: 'content', from: was?.tag, to: is?.tag })
    if (is?.isActive !== undefined && (is.isActive !== was?.isActive || isSetAnew))
      events.push({ ...where, id, what: 'active', isActive: is.isActive })
  }
  return events
}
