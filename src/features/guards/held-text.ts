import type { JsonObject } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { GuardPart, GuardPartKind } from './guard.ts'

/** A piece of a string in an event that hasn't been sent yet. */
export interface HeldPiece {
  text: string
  readonly event: HeldEvent
  readonly replace: (text: string) => void
}

/** A string that arrives in pieces. */
export interface Channel {
  readonly kind: GuardPartKind
  readonly choice: string
  /** Pieces that haven't been sent yet, in order. `length` is the total length of their text. */
  pieces: HeldPiece[]
  length: number
  /** How many characters of the held text have been checked, and how many of them may be sent. */
  checkedTo: number
  clearedTo: number
  /** The end of the text that the client has already received. */
  before: string
  /** The end of the text that a reader sees directly before the held text, from an earlier channel and this one. */
  joins: string
  /** Where blocks begin in `joins`. */
  starts: readonly number[]
  hasEnded: boolean
}

/** An event that is waiting for a verdict. */
export interface HeldEvent {
  readonly block: string
  event: SseEvent | undefined
  readonly json: JsonObject | undefined
  readonly channels: Set<Channel>
  /** Complete strings that need a check. No later event continues them. */
  strings: HeldString[]
  /** The tool calls that the event begins or continues, and those that it ends. The event is sent once the calls are complete. */
  readonly startedCalls: readonly string[]
  readonly endedCalls: readonly string[]
  isChanged: boolean
  /** When the event arrived. */
  takenAt: number
}

export const createHeldEvent = (
  block: string,
  event: SseEvent,
  extra: Partial<Pick<HeldEvent, 'json' | 'startedCalls' | 'endedCalls' | 'isChanged'>> = {},
): HeldEvent => ({
  ...{
    block,
    event,
    json: undefined,
    channels: new Set(),
    strings: [],
    startedCalls: [],
    endedCalls: [],
    isChanged: false,
    takenAt: 0,
  },
  ...extra,
})

export interface HeldString {
  readonly part: GuardPart
  readonly choice: string
  /** Whether the string repeats a string from the request. */
  readonly isEcho: boolean
  replace(text: string): void
}

/** Joins the channel's pieces in these events (default: in all events). */
export const joinPieces = ({ pieces }: Channel, events?: ReadonlySet<HeldEvent>): string =>
  pieces.map(({ text, event }) => (!events || events.has(event) ? text : '')).join('')

/** Returns whether a string must be checked. Tool calls are checked only when they are complete. */
export const mustCheck = ({ kind, hasEnded, checkedTo, clearedTo, length }: Channel): boolean =>
  hasEnded ? clearedTo < length : kind !== 'tool-call' && checkedTo < length

/** Returns how many of the channel's next pieces are in this event and the length of their text. */
export function measureNext({ pieces }: Channel, heldEvent: HeldEvent, start = 0): { count: number; length: number } {
  let count = 0
  let length = 0
  for (let index = start; pieces[index]?.event === heldEvent; index++) {
    count++
    length += pieces[index]?.text.length ?? 0
  }
  return { count, length }
}

/** Replaces the changed part of the pieces' text. The first affected piece gets the entire replacement. Returns the replacement's end position. */
export function changePieces(channel: Channel, old: string, text: string): number {
  let start = 0
  while (start < old.length && start < text.length && old[start] === text[start]) start++
  let tail = 0
  while (tail < Math.min(old.length, text.length) - start && old.at(-1 - tail) === text.at(-1 - tail)) tail++
  const end = old.length - tail
  const added = text.slice(start, text.length - tail)
  let position = 0
  let isAdded = false
  for (const piece of channel.pieces) {
    const { length } = piece.text
    const from = Math.min(Math.max(start - position, 0), length)
    const to = Math.min(Math.max(end - position, 0), length)
    const isAffected: boolean = position + length >= start && !isAdded
    if (to > from || isAffected) {
      piece.text = piece.text.slice(0, from) + (isAffected ? added : '') + piece.text.slice(Math.max(to, from))
      isAdded ||= isAffected
      piece.replace(piece.text)
      piece.event.isChanged = true
    }
    position += length
  }
  channel.length += text.length - old.length
  return start + added.length
}
