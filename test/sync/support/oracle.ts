import { assert } from '../../support/suite.ts'
import { getData } from './pair.ts'
import type { SideName, View, World } from './world.ts'

/** The result of an edit on its own side. */
export type Event = { at: number; side: SideName; id: string } & (
  | { what: 'content'; from: string | undefined; to: string | undefined }
  | { what: 'active'; isActive: boolean }
)

/** The state that a history implies, derived without looking at the replica. */
export interface Log {
  events: Event[]
  attempts: { at: number; isComplete: boolean }[]
  /** Records that definitely conflicted. */
  expected: Set<string>
}

/** Checks after a history that both sides are equal, that nothing is lost or reverted, and that exactly the real conflicts were reported. */
export async function check(world: World, log: Log, initial: View): Promise<void> {
  const { events, attempts, expected } = log
  const final = await checkEqual(world)
  const reported = new Set(world.conflicts.map(({ collection, id }) => `${collection}/${id}`))

  const isBetween = (item: Event, other: Event) => (attempt: { at: number }) =>
    item.at < attempt.at && attempt.at < other.at
  const hasSeen = (later: Event, earlier: Event) =>
    earlier.at < later.at &&
    (earlier.side === later.side ||
      attempts.some((attempt) => attempt.isComplete && isBetween(earlier, later)(attempt)))
  const maySee = (later: Event, earlier: Event) =>
    earlier.at <= later.at &&
    (earlier.side === later.side || attempts.some(({ at }) => earlier.at <= at && at <= later.at))
  const areApart = (item: Event, other: Event) =>
    item.side !== other.side && !hasSeen(item, other) && !hasSeen(other, item)

  for (const id of expected) assert.ok(reported.has(id), `the conflict about ${id} was not reported`)
  for (const id of reported) {
    const own = events.filter((event) => event.id === id)
    const rivals = events.filter((event) => event.id !== id && isRival(event, own))
    const isReal = own.some((item) => [...own, ...rivals].some((other) => areApart(item, other)))
    assert.ok(isReal, `there was no conflict about ${id}`)
  }

  for (const id of new Set(events.map((event) => event.id))) {
    if (id === 'settings/settings') continue
    const own = events.filter((event) => event.id === id)
    const contents = own.filter((event) => event.what === 'content')
    const state = final.get(id)
    /** Returns whether the other side knows about a deletion. Records that were created and deleted between two syncs were never sent. */
    const isKnown = (deletion: Event) => {
      const created = creations.findLast(({ at, side }) => at < deletion.at && side === deletion.side)
      return !created || attempts.some(({ at }) => created.at <= at && at <= deletion.at)
    }
    const deletions = contents.filter((event) => event.to === undefined)
    const creations = contents.filter(({ from, to }) => from === undefined && to !== undefined)
    if (state) {
      const isAnew = (deletion: Event) => creations.some((creation) => maySee(creation, deletion))
      for (const deletion of deletions)
        assert.ok(!isKnown(deletion) || isAnew(deletion), `${id} is back after its deletion`)
      const isMade = initial.get(id)?.tag === state.tag || contents.some(({ to }) => to === state.tag)
      assert.ok(isMade, `no edit led to the final content of ${id}`)
    } else assert.ok(deletions.length > 0 || reported.has(id), `${id} is lost`)
    for (const content of contents) {
      if (content.to === undefined || content.to === state?.tag || reported.has(id)) continue
      const isReplaced = contents.some((other) => other !== content && other.from === content.to)
      assert.ok(isReplaced, `the edit ${content.to} of ${id} is lost`)
    }
    if (state?.isActive === undefined) continue
    const flags = own.filter((event) => event.what === 'active')
    const pauses = flags.filter(({ isActive }) => !isActive)
    const resumes = flags.filter(({ isActive }) => isActive)
    if (state.isActive) {
      for (const pause of pauses)
        assert.ok(
          resumes.some((resume) => maySee(resume, pause)),
          `${id} is active although it was paused`,
        )
    } else {
      const isCollision = reported.size > 0 && id.startsWith('keys/')
      assert.ok(pauses.length > 0 || isCollision, `${id} is paused although nobody paused it`)
      const isResumed = resumes.some((resume) => pauses.length > 0 && pauses.every((pause) => hasSeen(resume, pause)))
      assert.not.ok(isResumed, `${id} is paused although it was resumed`)
    }
  }
}

/** Checks that both sides are equal, and resolves to their records. */
export async function checkEqual(world: World): Promise<View> {
  const { home, cloud } = world.sides()
  assert.equal(await plain(cloud), await plain(home), 'the two sides differ')
  assert.equal(world.refused, [], 'an operation was rejected')
  const final = await world.view('home')
  assert.equal(plainView(await world.view('cloud')), plainView(final), 'the keys of the two sides differ')
  return final
}

/** Returns whether the event is about another combo whose name this combo has had. */
function isRival(event: Event, own: Event[]): boolean {
  if (!event.id.startsWith('combos/')) return false
  const names = new Set(own.flatMap(getNames))
  return getNames(event).some((name) => names.has(name))
}

const getNames = (event: Event): string[] =>
  event.what === 'content' && event.id.startsWith('combos/')
    ? [event.from, event.to].flatMap((tag) => (tag === undefined ? [] : [JSON.parse(tag)[0]]))
    : []

const plainView = (view: View) => new Map([...view].map(([id, { edit, ...seen }]) => [id, seen]))

async function plain(side: Parameters<typeof getData>[0]): Promise<unknown> {
  const text = JSON.stringify(await getData(side), (name, value) => (name === 'updatedAt' ? undefined : value))
  return JSON.parse(text)
}
