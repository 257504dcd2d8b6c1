interface ContentHints {
  readonly isToolResult: boolean
  readonly isToolCall: boolean
  readonly isReasoning: boolean
  readonly isMedia: boolean
}

/** Returns what an object's type or name reveals about its content. */
export function getContentHints(word: string): ContentHints {
  if (word === '') return NO_HINTS
  const cachedHints = hintsByWord.get(word)
  if (cachedHints) return cachedHints
  const hints: ContentHints = {
    isToolResult: RESULT_PATTERN.test(word),
    isToolCall: CALL_PATTERN.test(word),
    isReasoning: REASONING_PATTERN.test(word),
    isMedia: MEDIA_PATTERN.test(word),
  }
  if (hintsByWord.size < 1_000 && word.length < 50) hintsByWord.set(word, hints)
  return hints
}

const NO_HINTS: ContentHints = { isToolResult: false, isToolCall: false, isReasoning: false, isMedia: false }
const hintsByWord = new Map<string, ContentHints>()

const RESULT_PATTERN = /tool[_-]result|_call_output$|^functionResponse$|^function_response$/
const CALL_PATTERN = /tool_use$|tool[_-]call|_call$|^functionCall$|^function_call$|^server_tool/
const REASONING_PATTERN = /reasoning|thinking/
const MEDIA_PATTERN = /image|audio|video|file|document|media|inlineData|inline_data|source/i
