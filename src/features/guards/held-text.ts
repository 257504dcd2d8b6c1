import type { JsonObject } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { TextTail } from './block-tails.ts'
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
  checkedLength: number
  clearedLength: number
  /** The end of the text that the client has already received. */
  sentTail: string
  /** The end of the text that a reader sees directly before the held text, from an earlier channel and this one. */
  precedingText: string
  /** Where blocks begin in `precedingText`. */
  starts: readonly number[]
  hasEnded: boolean
}

export const createChannel = ({
  precedingTail,
  ...channel
}: Pick<Channel, 'kind' | 'choice' | 'sentTail'> & { precedingTail: TextTail }): Channel => ({
  ...channel,
  pieces: [],
  length: 0,
  checkedLength: 0,
  clearedLength: 0,
  precedingText: precedingTail.text,
  starts: precedingTail.starts,
  hasEnded: false,
})

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
  queuedAt: number
}

export const createHeldEvent = (
  block: string,
  event: SseEvent,
  overrides: Partial<Pick<HeldEvent, 'json' | 'startedCalls' | 'endedCalls' | 'isChanged'>> = {},
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
    queuedAt: 0,
  },
  ...overrides,
})

export interface HeldString {
  readonly part: GuardPart
  readonly choice: string
  /** Whether the string repeats a string from the request. */
  readonly isEcho: boolean
  replace(text: string): void
}

/** Strings to check: the channels' text so far and complete strings. */
export interface UncheckedTexts {
  channels: ReadonlyArray<{ channel: Channel; part: GuardPart }>
  strings: ReadonlyArray<{ heldEvent: HeldEvent; string: HeldString }>
}

/** Joins the channel's pieces in these events (default: in all events). */
export const joinPieces = ({ pieces }: Channel, events?: ReadonlySet<HeldEvent>): string =>
  pieces.map(({ text, event }) => (!events || events.has(event) ? text : '')).join('')

/** Returns whether a string must be checked. Tool calls are checked only when they are complete. */
export const needsCheck = ({ kind, hasEnded, checkedLength, clearedLength, length }: Channel): boolean =>
  hasEnded ? clearedLength < length : kind !== 'tool-call' && checkedLength < length

/** Returns how many of the channel's next pieces are in this event and the length of their text. */
export function measurePieces({ pieces }: Channel, heldEvent: HeldEvent, start = 0): { count: number; length: number } {
  let count = 0
  let length = 0
  for (let index = start; pieces[index]?.event === heldEvent; index++) {
    count++
    length += pieces[index]?.text.length ?? 0
  }
  return { count, length }
}

/** Replaces the changed part of the pieces' text. The first affected piece gets the entire replacement. Returns the replacement's end position. */
export function changePieces(channel: Channel, oldText: string, newText: string): number {
  let start = 0
  while (start < oldText.length && start < newText.length && oldText[start] === newText[start]) start++
  let suffixLength = 0
  while (
    suffixLength < Math.min(oldText.length, newText.length) - start &&
    oldText.at(-1 - suffixLength) === newText.at(-1 - suffixLength)
  )
    suffixLength++
  const end = oldText.length - suffixLength
  const replacement = newText.slice(start, newText.length - suffixLength)
  let position = 0
  let isReplaced = false
  for (const piece of channel.pieces) {
    const { length } = piece.text
    const from = Math.min(Math.max(start - position, 0), length)
    const to = Math.min(Math.max(end - position, 0), length)
    const isAffected: boolean = position + length >= start && !isReplaced
    if (to > from || isAffected) {
      piece.text = piece.text.slice(0, from) + (isAffected ? replacement : '') + piece.text.slice(Math.max(to, from))
      isReplaced ||= isAffected
      piece.replace(piece.text)
      piece.event.isChanged = true
    }
    position += length
  }
  channel.length += newText.length - oldText.length
  return start + replacement.length
}
