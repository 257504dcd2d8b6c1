/** How hard a model is to think, from not at all to all it can. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** What a request may say besides its conversation and its tools: names in the canonical form. */
export type OptionName =
  | 'cacheKey'
  | 'cacheOptions'
  | 'candidates'
  | 'endUser'
  | 'frequencyPenalty'
  | 'labels'
  | 'logitBias'
  | 'logprobs'
  | 'maxOutputTokens'
  | 'modalities'
  | 'moderation'
  | 'parallelToolCalls'
  | 'prediction'
  | 'presencePenalty'
  | 'reasoning'
  | 'seed'
  | 'serviceTier'
  | 'speech'
  | 'stop'
  | 'store'
  | 'temperature'
  | 'topK'
  | 'topP'
  | 'verbosity'

/** What a conversation may hold besides text. `image-url`: the provider fetches images itself; likewise `file-url`. */
export type InputKind = 'image' | 'image-url' | 'file' | 'file-url' | 'audio' | 'video' | 'search-result'

/** Which names or ids a provider takes. */
export interface Alphabet {
  /** Characters that may stand in one, as the inside of a character class: `A-Za-z0-9_-`. */
  characters: string
  /** The same for the first character, where it is stricter. */
  first?: string
  maxLength: number
  /** Every one has exactly `maxLength` characters. */
  isExact?: boolean
}

/** How a provider is asked to think, and how it wants its thoughts back. */
export interface ReasoningTraits {
  /**
   * What the request says: an effort, a budget of tokens, both of Anthropic's styles, Google's levels, or a vendor's own field.
   * `none`: the model cannot be asked.
   */
  by: 'none' | 'effort' | 'budget' | 'adaptive' | 'level' | VendorSwitch
  /** The efforts it takes, lowest first; others become the nearest one, the lower of two. */
  efforts: readonly Effort[]
  /** Tokens by effort, and in reverse the effort nearest to a budget. */
  budgets: Readonly<Record<Effort, number>>
  minBudget: number
  maxBudget: number
  /** Where it reads and writes thoughts in Chat Completions. */
  field: 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'thinking-parts'
  /** Which of its own thoughts it wants to see again. */
  replay: 'never' | 'tool-loop' | 'always'
  /** Refuses a turn of its own without that field; where there are no thoughts it is to be empty. */
  needsField: boolean
  /** Refuses thoughts when what stood before them has changed, unless it is told to leave them out. */
  bindsThoughts: boolean
  /** A forced tool call while it thinks is refused. */
  refusesForcedTool: boolean
  /** Tools of the client while it thinks are refused. */
  refusesTools: boolean
  /** Options that it refuses while it thinks. */
  excludes: readonly OptionName[]
  /** It thinks unless it is told not to. */
  isDefault: boolean
  /** How Anthropic's models are told not to. */
  off: 'disabled' | 'between_tools'
}

/**
 * `thinking: {type}` (Z.ai), the same with an effort beside it (DeepSeek), `enable_thinking` (Qwen), `reasoning: {effort}` (OpenRouter),
 * `chat_template_kwargs` (vLLM), `reasoning_config` (Qwen on Bedrock).
 */
export type VendorSwitch =
  | 'thinking'
  | 'thinking-effort'
  | 'enable_thinking'
  | 'reasoning-object'
  | 'chat-template'
  | 'reasoning_config'

/**
 * What one provider or model differs in from others of its wire format: data, so that no translator asks who it talks to. Each format has
 * its defaults (`Translator.traits`); a vendor's or a model's entry replaces single fields of them.
 */
export interface Traits {
  /** Options that the format has and this provider refuses. */
  lacks: readonly OptionName[]
  inputs: readonly InputKind[]
  /** A file may be a plain text, have a title and a context, and be cited. */
  documents: boolean
  /** What the result of a tool may hold besides text. */
  toolResultInputs: readonly InputKind[]
  maxTemperature: number
  maxStopSequences: number
  /** Said where the format demands a limit and the client gave none, and the most that is asked for. */
  maxOutputTokens: number | undefined
  minOutputTokens: number
  outputLimitField: 'max_completion_tokens' | 'max_tokens'
  /** Where Converse has `topK` for the model: beside its other fields of its own, or in a group of them. */
  topKField: 'top_k' | 'inferenceConfig'
  /** Fields of the model's own by which Converse is to tell how a text was stopped, as JSON pointers. */
  stopFields: readonly string[]
  /** Knows the role `developer`; otherwise it becomes `system`. */
  developerRole: boolean
  /** Takes system messages behind the first turn; `before-answer`: only between the user's words and the answer to them. */
  lateSystem: boolean | 'before-answer'
  /** Does it take a text of the user that says nothing? `blanks`: not an empty one. */
  emptyText: 'taken' | 'blanks' | 'refused'
  /** May the last turn be the assistant's own, to be continued? */
  prefill: boolean
  toolIds: Alphabet
  /** Takes the ids of calls in a history; otherwise it goes by their names and their order. */
  callIds: boolean
  toolNames: Alphabet
  /** Knows tools whose input is free text. */
  freeFormTools: boolean
  /** Knows `strict` on tools. */
  strictTools: boolean
  /** Kinds of tool choice it knows; missing ones are narrowed or refused. */
  toolChoices: readonly ('none' | 'required' | 'tool' | 'allowed')[]
  /** A history with tool calls is refused unless tools are declared. */
  declaresTools: boolean
  webSearch: boolean
  /** `openapi`: Google's older subset, which refuses what it does not know. */
  schema: 'json-schema' | 'openapi'
  outputFormats: readonly ('json' | 'json-schema')[]
  /** Refuses the form `json` unless the conversation says the word. */
  jsonNeedsWord: boolean
  reasoning: ReasoningTraits
  /** Marks of explicit caching that it understands, and how many it takes. */
  cacheMarks: 'none' | 'cache_control' | 'prompt_cache_breakpoint'
  maxCacheMarks: number
  /** Reports tokens in a stream when asked by `stream_options`. */
  streamUsage: boolean
}
