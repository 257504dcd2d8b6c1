import type { Used } from '../forms.ts'

/** A request for moderation, of whichever form. */
export interface ModerationRequest {
  /** At least one; each is judged by itself. */
  inputs: readonly ModerationInput[]
  /** Has the client sent a list? */
  isList: boolean
  /** The names of the members that no form knows. */
  others: readonly string[]
}

/** What is judged at once. */
export interface ModerationInput {
  text: string
  /** Where an image stands in the request, if there is one: `input[1]`. */
  image?: string | undefined
}

/** An answer of whichever form. */
export interface Moderation extends Used {
  /** The provider's id of the answer. */
  id?: string | undefined
  /** One for each input, in their order. */
  results: readonly Judgement[]
}

export interface Judgement {
  flagged: boolean
  /** By category, of which some are the vendor's own. */
  categories: Readonly<Record<string, boolean>>
  /** From 0 to 1, by category. */
  scores: Readonly<Record<string, number>>
}
