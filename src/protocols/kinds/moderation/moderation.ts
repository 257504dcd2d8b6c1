import type { KindResponse } from '../kind-adapters.ts'

/** A moderation request, independent of the client's format. */
export interface ModerationRequest {
  /** At least one input. Each is moderated separately. */
  inputs: readonly ModerationInput[]
  /** Whether the client sent a list. */
  isList: boolean
  /** The names of unknown fields. */
  otherFieldNames: readonly string[]
}

/** An input that gets one result. */
export interface ModerationInput {
  text: string
  /** The path of the image in the request, such as `input[1]`, if there is an image. */
  image?: string | undefined
}

/** A moderation response, independent of the vendor's format. */
export interface ModerationResponse extends KindResponse {
  /** The provider's response ID. */
  id?: string | undefined
  /** One result per input, in order. */
  results: readonly ModerationResult[]
}

export interface ModerationResult {
  flagged: boolean
  /** Whether the input was flagged, by category. Some categories are the vendor's own. */
  categories: Readonly<Record<string, boolean>>
  /** Scores from 0 to 1, by category. */
  scores: Readonly<Record<string, number>>
}
