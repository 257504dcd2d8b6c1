import type { Citation } from '../canonical/citations.ts'
import type { RefusalPart, TextPart, TokenLogprob } from '../canonical/parts.ts'
import type { OpaqueState } from '../canonical/state.ts'
import type { WriteContext } from '../translator.ts'
import type { Events } from './events.ts'
import type { WireItemStatus, WireOutputItem } from './wire.ts'

/** Writes one item of a stream, all but its last event. */
export interface ItemWriter {
  /** Opens another part of the same item; answers whether it belongs there. */
  open(part: TextPart | RefusalPart): boolean
  add(text: string, logprobs: TokenLogprob[] | undefined): void
  cite(citation: Citation): void
  sign(state: OpaqueState): void
  /** The open part is complete. */
  end(): void
  /** The item as it is; undefined while nothing has been told of it. */
  whole(status: WireItemStatus): WireOutputItem | undefined
}

export interface ItemPlace {
  context: WriteContext
  events: Events
  /** Among the items of the output. */
  index: number
}

/** For what an item has no room for. */
export const noRoom = {
  open: () => false,
  cite() {},
  sign() {},
}

/** What every event about an item says, as JSON. */
export const whereabouts = (id: string, index: number): string =>
  `"item_id":${JSON.stringify(id)},"output_index":${index}`
