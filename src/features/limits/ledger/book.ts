import { gatewayError } from '../../../errors.ts'
import { isObject, tryParseJson } from '../../../lib/json.ts'
import { addClamped, type IntegerAmounts, subtractClamped } from './amounts.ts'
import { getWindowStarts, type Minute, WINDOWS } from './windows.ts'

/** Requests, tokens, and nano-dollars of all reservations made in one minute. */
export type MinuteSlot = readonly [minute: Minute, requests: number, tokens: number, usd: number]

/** How a lost instance's reservations were settled. */
export type LostKind = 'open' | 'spent' | 'unspent'

/** One instance's in-flight requests. An instance with none keeps its entry for a while because of its `sequence`. */
export interface InstanceEntry {
  /** When the instance last wrote, by its own clock, in epoch seconds. */
  beat: number
  /** The number of the write that stored this entry. It tells the instance whether a write with an unknown result succeeded. */
  sequence: number
  /** `open`, unless an operator has settled a lost instance's reservations. */
  lostAs: LostKind
  parallel: number
  held: readonly MinuteSlot[]
  /** The parts of `parallel` and `held` that are released if another scope rejects the same request. */
  pendingParallel: number
  pending: readonly MinuteSlot[]
}

/** A scope's used and in-flight amounts. Never modified after it is stored. */
export interface Book {
  /** The latest minute with any usage. The counters are for the windows that contain this minute. */
  minute: Minute
  /** Usage by window: requests, tokens, and nano-dollars in the first window of `WINDOWS`, then in the second, and so on. */
  used: number[]
  /** Reservations of instances that were lost long ago, by the first minute of the day. */
  gone: readonly MinuteSlot[]
  entries: ReadonlyMap<string, InstanceEntry>
  /**
   * When the counters were last reset, in epoch ms; 0 means never. Each reset gets a later time than the previous one. Both sides of a replica use
   * the latest reset.
   */
  epoch: number
  /** The number of the last write: its time in epoch ms, increased if necessary so it is higher than the previous write's. */
  number: number
  /** Usage on the other side of a replica, in the windows that contain `minute`. */
  otherSide: OtherSideUsage | undefined
}

/** A scope's usage on the other side of a replica. */
export interface OtherSideUsage {
  /** The replica's ID. */
  side: string
  /** The number of the other side's write. */
  number: number
  used: readonly number[]
}

/** A scope's usage on one side of a replica, as reported to the other. */
export interface SideSpending {
  epoch: number
  number: number
  /** The minute whose windows the usage is for. */
  minute: Minute
  used: readonly number[]
}

/** The units that are counted by window, in storage order. */
export const COUNTED_UNITS = ['requests', 'tokens', 'usd'] as const
const UNIT_COUNT = COUNTED_UNITS.length
/** The number of counters in `used`. */
export const COUNTER_COUNT = WINDOWS.length * UNIT_COUNT

export const createBook = (minute: Minute): Book => ({
  minute,
  used: new Array<number>(COUNTER_COUNT).fill(0),
  gone: [],
  entries: new Map(),
  epoch: 0,
  number: 0,
  otherSide: undefined,
})

export const emptyEntry: InstanceEntry = Object.freeze({
  beat: 0,
  sequence: 0,
  lostAs: 'open',
  parallel: 0,
  held: [],
  pendingParallel: 0,
  pending: [],
})

export const isEmptyEntry = (entry: InstanceEntry): boolean => entry.parallel === 0 && entry.held.length === 0

/** Returns the index in `used` of a unit's counter for a window. */
export const getUsedIndex = (window: number, unit: number): number => window * UNIT_COUNT + unit

/** Moves used amounts from one minute to a later one. Windows that have ended get 0. */
export function rollUsed(used: readonly number[], previousMinute: Minute, minute: Minute): number[] {
  const rolled = used.slice()
  if (minute === previousMinute) return rolled
  const previousStarts = getWindowStarts(previousMinute)
  getWindowStarts(minute).forEach((start, window) => {
    if (start !== previousStarts[window]) rolled.fill(0, getUsedIndex(window, 0), getUsedIndex(window + 1, 0))
  })
  return rolled
}

/** Adds a slot's usage to each window at `minute` that contains the slot, or subtracts it. */
export function countSlot(used: number[], minute: Minute, slot: MinuteSlot, sign: 1 | -1 = 1): void {
  if (isEmptySlot(slot)) return
  const starts = getWindowStarts(minute)
  for (let window = 0; window < starts.length; window++) {
    if (slot[0] < (starts[window] ?? 0)) continue
    for (let unit = 0; unit < UNIT_COUNT; unit++) {
      const index = getUsedIndex(window, unit)
      const amount = slot[unit + 1] ?? 0
      used[index] = sign === 1 ? addClamped(used[index] ?? 0, amount) : subtractClamped(used[index] ?? 0, amount)
    }
  }
}

/** Adds two lists of counters element by element. */
export const addUsed = (used: readonly number[], addedUsed: readonly number[]): number[] =>
  used.map((value, index) => addClamped(value, addedUsed[index] ?? 0))

export const createSlot = (minute: Minute, { requests, tokens, usd }: IntegerAmounts): MinuteSlot => [
  minute,
  requests,
  tokens,
  usd,
]

// Returns whether a slot is empty. Reads it by index, because destructuring an array runs its iterator, and every limited request does this a dozen
// times.
const isEmptySlot = (slot: MinuteSlot): boolean => slot[1] + slot[2] + slot[3] === 0

/** Adds a slot, merging it with any slot of the same minute. */
export function addSlot(slots: readonly MinuteSlot[], addedSlot: MinuteSlot): readonly MinuteSlot[] {
  if (isEmptySlot(addedSlot)) return slots
  const matchingSlot = slots.find((slot) => slot[0] === addedSlot[0])
  if (!matchingSlot) return [...slots, addedSlot]
  const sum: MinuteSlot = [
    addedSlot[0],
    addClamped(matchingSlot[1], addedSlot[1]),
    addClamped(matchingSlot[2], addedSlot[2]),
    addClamped(matchingSlot[3], addedSlot[3]),
  ]
  return slots.length === 1 ? [sum] : slots.map((slot) => (slot === matchingSlot ? sum : slot))
}

/** Subtracts a slot. */
export function subtractSlot(slots: readonly MinuteSlot[], removedSlot: MinuteSlot): readonly MinuteSlot[] {
  const matchingSlot = slots.find((slot) => slot[0] === removedSlot[0])
  if (!matchingSlot) return slots
  const difference: MinuteSlot = [
    removedSlot[0],
    subtractClamped(matchingSlot[1], removedSlot[1]),
    subtractClamped(matchingSlot[2], removedSlot[2]),
    subtractClamped(matchingSlot[3], removedSlot[3]),
  ]
  const otherSlots = slots.length === 1 ? [] : slots.filter((slot) => slot !== matchingSlot)
  return isEmptySlot(difference) ? otherSlots : [...otherSlots, difference]
}

const LOST_KINDS: readonly LostKind[] = ['open', 'spent', 'unspent']

/** Encodes a scope's counters for storage. */
export function encodeBook({ minute, used, gone, entries, epoch, number, otherSide }: Book): string {
  const encodedEntries = Array.from(
    entries,
    ([id, { beat, sequence, lostAs, parallel, held, pendingParallel, pending }]) => [
      id,
      beat,
      sequence,
      LOST_KINDS.indexOf(lostAs),
      parallel,
      held,
      pendingParallel,
      pending,
    ],
  )
  const encodedOtherSide = otherSide && [otherSide.side, otherSide.number, otherSide.used]
  return JSON.stringify({
    v: BOOK_VERSION,
    minute,
    used,
    gone,
    entries: encodedEntries,
    epoch,
    number,
    elsewhere: encodedOtherSide,
  })
}

const BOOK_VERSION = 2
/** The previous version of the encoding, without `epoch`, `number`, and `elsewhere`. */
const VERSION_WITHOUT_SIDES = 1

/** Decodes a scope's counters. Throws `RECORD_DAMAGED` for anything that `encodeBook` doesn't write, so damaged counters never count as unspent. */
export function decodeBook(key: string, text: string): Book {
  const json = tryParseJson(text)
  if (isObject(json) && (json.v === BOOK_VERSION || json.v === VERSION_WITHOUT_SIDES)) {
    const { minute, used, gone, entries } = json
    const { epoch, number, elsewhere } = json.v === BOOK_VERSION ? json : { epoch: 0, number: 0 }
    const parsedEntries = Array.isArray(entries) ? entries.map(readEntry) : [undefined]
    const otherSide = elsewhere === undefined ? undefined : readOtherSide(elsewhere)
    const isValid = isCount(epoch) && isCount(number) && isDefined(otherSide) === isDefined(elsewhere)
    if (
      isValid &&
      isCount(minute) &&
      areCounts(used, COUNTER_COUNT) &&
      areSlots(gone) &&
      parsedEntries.every(isDefined)
    )
      return { minute, used, gone, entries: new Map(parsedEntries), epoch, number, otherSide }
  }
  throw gatewayError('RECORD_DAMAGED', {
    message: `The limit counters in the stored record ${key} are damaged or were written by a newer release. Reset them (DELETE …/limits).`,
    data: { key },
  })
}

function readOtherSide(value: unknown): OtherSideUsage | undefined {
  if (!Array.isArray(value)) return undefined
  const [side, number, used]: unknown[] = value
  return typeof side === 'string' && isCount(number) && areCounts(used, COUNTER_COUNT)
    ? { side, number, used }
    : undefined
}

function readEntry(value: unknown): [id: string, entry: InstanceEntry] | undefined {
  if (!Array.isArray(value)) return undefined
  const [id, beat, sequence, lostIndex, parallel, held, pendingParallel, pending]: unknown[] = value
  const lostAs = typeof lostIndex === 'number' ? LOST_KINDS[lostIndex] : undefined
  if (typeof id !== 'string' || !isCount(beat) || !isCount(sequence) || !lostAs) return undefined
  if (!isCount(parallel) || !areSlots(held) || !isCount(pendingParallel) || !areSlots(pending)) return undefined
  return [id, { beat, sequence, lostAs, parallel, held, pendingParallel, pending }]
}

const isDefined = <T>(value: T | undefined): value is T => value !== undefined
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
const areCounts = (value: unknown, length: number): value is number[] =>
  Array.isArray(value) && value.length === length && value.every(isCount)
const areSlots = (value: unknown): value is MinuteSlot[] =>
  Array.isArray(value) && value.every((slot) => areCounts(slot, UNIT_COUNT + 1))

/** Merges two books after a non-atomic storage returned the state before the last write. Preserves the counts from both. */
export function mergeBooks(stored: Book, local: Book): Book {
  const minute = Math.max(stored.minute, local.minute)
  const localUsed = rollUsed(local.used, local.minute, minute)
  const used = rollUsed(stored.used, stored.minute, minute).map((value, index) =>
    Math.max(value, localUsed[index] ?? 0),
  )
  const { gone, entries } = stored
  const newerBook = stored.number < local.number ? local : stored
  const otherSide = newerBook.otherSide && {
    ...newerBook.otherSide,
    used: rollUsed(newerBook.otherSide.used, newerBook.minute, minute),
  }
  const epoch = Math.max(stored.epoch, local.epoch)
  return { minute, used, gone, entries, epoch, number: Math.max(stored.number, local.number), otherSide }
}
