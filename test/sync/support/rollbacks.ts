import fc from 'fast-check'
import { assert } from '../../support/suite.ts'
import type { Fault } from './faults.ts'
import { changes, edit, fault, side } from './history.ts'
import { checkEqual, type Event } from './oracle.ts'
import { createWorld, type Edit, type SideName, type Texts, type View, type World } from './world.ts'

/** Edits, followed by a sync. */
interface Round {
  edits: { side: SideName; edit: Edit }[]
  faults: readonly Fault[]
}

/** A restore of one side's storage from an old copy. */
interface Rollback {
  side: SideName
  /** The age of the copy, in syncs. */
  age: number
  /** Whether the copy was made before the round's edits were synced, rather than after. */
  isEarly: boolean
  /** Edits before both sides become equal, and after. */
  rounds: Round[]
}

/** A history with restores. `variant` selects the IDs of the initial records. */
export interface RollbackHistory {
  rounds: Round[]
  rollbacks: Rollback[]
  variant: number
}

const edited = fc.record({ side, edit })
const round: fc.Arbitrary<Round> = fc.record({
  edits: fc.array(edited, { maxLength: 4 }),
  faults: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fault, { maxLength: 3 }) },
  ),
})
const firstRound: fc.Arbitrary<Round> = fc.tuple(edit, edit, round).map(([home, cloud, { edits, faults }]) => ({
  edits: [{ side: 'home', edit: home }, { side: 'cloud', edit: cloud }, ...edits],
  faults,
}))
const rollback: fc.Arbitrary<Rollback> = fc.record({
  side,
  age: fc.integer({ min: 1, max: 3 }),
  isEarly: fc.boolean(),
  rounds: fc.tuple(firstRound, fc.array(round, { maxLength: 2 })).map(([first, extra]) => [first, ...extra]),
})

export const rollbackHistories: fc.Arbitrary<RollbackHistory> = fc.record({
  rounds: fc.array(round, { minLength: 3, maxLength: 3 }),
  rollbacks: fc.oneof(
    { weight: 3, arbitrary: fc.tuple(rollback) },
    { weight: 1, arbitrary: fc.tuple(rollback, rollback) },
  ),
  variant: fc.nat(3),
})

/** The changes that a side has made or received, definitely or possibly. */
interface Known {
  sure: ReadonlySet<Created>
  perhaps: ReadonlySet<Created>
  /** The number of completed syncs, according to its storage. */
  exchanges: number
}

type Created = Event & {
  /** The changes that its side may have seen. */
  saw: ReadonlySet<Created>
  /** The number of conflicts reported up to that point. */
  conflicts: number
  /** The number of syncs completed up to that point, according to its side's storage. */
  exchanges: number
}

interface Copy {
  texts: Texts
  known: Known
}

const sides = ['home', 'cloud'] as const

/** Runs a history. Checks that no side undid a pause or a deletion that it hadn't seen, if either side still knew about it. */
export async function runRollbacks({ rounds, rollbacks, variant }: RollbackHistory): Promise<void> {
  const world = await createWorld(variant, { isBlind: false }) // only stamps reveal data that just one side has lost
  const nothing: Known = { sure: new Set(), perhaps: new Set(), exchanges: 0 }
  const known: Record<SideName, Known> = { home: nothing, cloud: nothing }
  const copies: Record<SideName, Record<'early' | 'late', Copy>[]> = { home: [], cloud: [] }
  let at = 0

  async function make(by: SideName, item: Edit): Promise<void> {
    const before = await world.view(by)
    await world.edit(by, item)
    const { sure, perhaps, exchanges } = known[by]
    const created = changes(before, await world.view(by), { at: ++at, side: by }).map(
      (event): Created => ({ ...event, saw: perhaps, conflicts: world.conflicts.length, exchanges }),
    )
    known[by] = { sure: new Set([...sure, ...created]), perhaps: new Set([...perhaps, ...created]), exchanges }
  }

  async function sync(faults: readonly Fault[]): Promise<void> {
    const isComplete = await world.sync(faults)
    const { home, cloud } = known
    const perhaps = new Set([...home.perhaps, ...cloud.perhaps])
    const sure = new Set([...home.sure, ...cloud.sure])
    for (const side of sides) {
      const { sure: own, exchanges } = known[side]
      known[side] = isComplete ? { sure, perhaps, exchanges: exchanges + 1 } : { sure: own, perhaps, exchanges }
    }
  }

  const copy = async (of: SideName): Promise<Copy> => ({ texts: await world.copy(of), known: known[of] })

  async function goThrough({ edits, faults }: Round): Promise<void> {
    for (const { side: by, edit: one } of edits) await make(by, one)
    const early = { home: await copy('home'), cloud: await copy('cloud') }
    await sync(faults)
    for (const side of sides) copies[side].push({ early: early[side], late: await copy(side) })
  }

  for (const round of rounds) await goThrough(round)
  for (const { side: of, age, isEarly, rounds: later } of rollbacks) {
    const old = copies[of].at(-1 - age)?.[isEarly ? 'early' : 'late'] ?? copies[of][0]?.late
    if (!old) continue
    await world.putBack(of, old.texts)
    known[of] = old.known
    for (const item of later) await goThrough(item)
  }
  const last: Known[] = sides.map((side) => known[side])
  world.restart('home')
  world.restart('cloud')
  for (const _ of Array.from({ length: 2 })) await sync([])
  checkUndone(await checkEqual(world), last, world)
}

/** Checks that everything that no longer applies was either undone by a side that had seen it, or reported. */
function checkUndone(final: View, known: readonly Known[], { conflicts }: World): void {
  const perhaps = known.flatMap((item) => [...item.perhaps])
  for (const event of new Set(known.flatMap(({ sure }) => [...sure]))) {
    const { id } = event
    const isUndoing = undoingOf(event, final)
    if (
      !isUndoing ||
      isUnheardOf(event) ||
      perhaps.some((other) => other.id === id && isUndoing(other) && other.saw.has(event))
    )
      continue
    const isReported = conflicts
      .slice(event.conflicts)
      .some((conflict) => `${conflict.collection}/${conflict.id}` === id)
    assert.ok(isReported, `${id}: ${JSON.stringify({ ...event, saw: event.saw.size })} was undone without a conflict`)
  }
}

/** Returns whether the record was deleted before it was synced. */
function isUnheardOf({ id, side: by, what, saw, exchanges }: Created): boolean {
  const creations = [...saw].filter((item) => item.id === id && item.what === 'content' && item.from === undefined)
  const last = creations.findLast((creation) => creation.side === by)
  return what === 'content' && last?.exchanges === exchanges
}

/** Returns the change that undoes a pause, a deletion, or the requirement of keys, or `undefined` if nothing needs to be undone. */
function undoingOf(event: Event, final: View): ((other: Event) => boolean) | undefined {
  const state = final.get(event.id)
  if (!state) return undefined
  if (event.what === 'active') {
    if (event.isActive || state.isActive === false) return undefined
    return (other) => other.what === 'active' && other.isActive
  }
  if (event.id === 'settings/settings') {
    if (event.to !== 'true' || state.tag === 'true') return undefined
    return (other) => other.what === 'content' && other.to === 'false'
  }
  if (event.to !== undefined) return undefined
  return (other) => other.what === 'content' && other.from === undefined
}
