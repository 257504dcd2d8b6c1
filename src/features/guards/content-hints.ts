interface ContentHints {
  readonly isResult: boolean
  readonly isCall: boolean
  readonly isReasoning: boolean
  readonly isMedia: boolean
}

/** Returns what an object's type or name reveals about its content. */
export function readHints(word: string): ContentHints {
  if (word === '') return NO_HINTS
  const cached = knownHints.get(word)
  if (cached) return cached
  const hints: ContentHints = {
    isResult: RESULT_PATTERN.test(word),
    isCall: CALL_PATTERN.test(word),
    isReasoning: REASONING_PATTERN.test(word),
    isMedia: MEDIA_PATTERN.test(word),
  }
  if (knownHints.size < 1_000 && word.length < 50) knownHints.set(word, hints)
  return hints
}

const NO_HINTS: ContentHints = { isResult: false, isCall: false, isReasoning: false, isMedia: false }
const knownHints = new Map<string, ContentHints>()

const RESULT_PATTERN = /tool[_-]result|_call_output$|^functionResponse$|^function_response$/
const CALL_PATTERN = /tool_use$|tool[_-]call|_call$|^functionCall$|^function_call$|^server_tool/
const REASONING_PATTERN = /reasoning|thinking/
const MEDIA_PATTERN = /image|audio|video|file|document|media|inlineData|inline_data|source/i
