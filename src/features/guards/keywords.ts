/**
 * Returns whether a string is a format's known keyword, such as `text` in `type: "text"`. Unknown keywords are read like any other text. A dated type
 * such as `web_search_20250305` is known if the undated type is.
 */
export const isKeyword = (field: string, text: string): boolean =>
  field.length <= MAX_FIELD_LENGTH &&
  isKeywordField(field) &&
  (isKeywordValue(text) || KEYWORD_VALUES.has(text.replace(/_20\d{6}$/, '')))

/** Returns whether a name is one of a format's known fields. Unknown names are read as strings, because a client can hide text in them. */
export const isKnownName = (name: string): boolean => isKeywordName(name)

/** Returns whether a string looks like a base64 image or audio file. */
export const isBinary = (text: string): boolean => text.length > MAX_KEYWORD_LENGTH && BASE64_PATTERN.test(text)

const MAX_KEYWORD_LENGTH = 1_000
const BASE64_PATTERN = /^[\w+/-]+={0,2}$/

const KEYWORD_FIELDS = new Set([
  ...['role', 'type', 'object', 'status', 'unified', 'raw', 'service_tier', 'modality'],
  ...['finish_reason', 'finishReason', 'stop_reason', 'blockReason'],
])

/**
 * Creates a function that tests whether a string is in a set. Caches the latest strings by length and first letter, because requests repeat the same
 * few.
 */
function createKeywordTest(set: ReadonlySet<string>): (text: string) => boolean {
  const recentMatches: string[] = Array(64).fill('')
  return (text) => {
    const slot = (text.length * 7 + text.charCodeAt(0)) & 63
    if (recentMatches[slot] === text && text !== '') return true
    if (!set.has(text)) return false
    recentMatches[slot] = text
    return true
  }
}

const toSet = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

const KEYWORD_VALUES = toSet(`
  system developer user assistant tool function model critic discriminator text image image_url audio input_text input_image input_audio input_file
  output_text output_audio refusal file video media document message json json_object json_schema grammar custom function_call function_call_output
  custom_tool_call custom_tool_call_output tool_use tool_result server_tool_use tool-call tool-result tool-approval-request tool-approval-response
  mcp mcp_call mcp_list_tools mcp_approval_request mcp_approval_response mcp_tool_use mcp_tool_result web_search web_search_preview web_search_call
  web_search_tool_result web_search_result file_search file_search_call code_interpreter code_interpreter_call computer_use_preview computer_call
  computer_call_output image_generation image_generation_call local_shell local_shell_call local_shell_call_output shell shell_call
  shell_call_output apply_patch apply_patch_call apply_patch_call_output code_execution code_execution_tool_result bash text_editor computer memory
  web_fetch web_fetch_tool_result search_result tool_search tool_reference reasoning reasoning_text reasoning-file summary_text reasoning.text
  reasoning.summary reasoning.encrypted thinking redacted_thinking item_reference compaction compaction_summary container_upload object array string
  number integer boolean null OBJECT ARRAY STRING NUMBER INTEGER BOOLEAN ephemeral base64 url file_id content content_block char_location
  page_location content_block_location url_citation file_citation auto any none required enabled disabled adaptive allowed_tools provider-defined
  provider chat.completion chat.completion.chunk text_completion response list embedding moderation error ping message_start message_delta
  message_stop content_block_start content_block_delta content_block_stop text_delta input_json_delta thinking_delta signature_delta citations_delta
  response.created response.queued response.in_progress response.completed response.incomplete response.failed response.output_item.added
  response.output_item.done response.content_part.added response.content_part.done response.output_text.delta response.output_text.done
  response.refusal.delta response.refusal.done response.function_call_arguments.delta response.function_call_arguments.done
  response.custom_tool_call_input.delta response.custom_tool_call_input.done response.reasoning_text.delta response.reasoning_text.done
  response.reasoning_summary_part.added response.reasoning_summary_part.done response.reasoning_summary_text.delta
  response.reasoning_summary_text.done stream-start response-metadata text-start text-delta text-end reasoning-start reasoning-delta reasoning-end
  tool-input-start tool-input-delta tool-input-end finish raw source stop length content_filter content-filter tool_calls tool-calls end_turn
  max_tokens stop_sequence pause_turn other unknown STOP MAX_TOKENS SAFETY RECITATION OTHER completed incomplete in_progress failed queued default
  standard priority flex batch TEXT IMAGE AUDIO VIDEO DOCUMENT transcript.text.delta transcript.text.done
`)

const KEYWORD_NAMES = toSet(`
  model messages input contents prompt role content parts text type object name id index system instructions systemInstruction system_instruction
  tools functions function tool_choice toolChoice parameters description properties required items enum anyOf oneOf allOf additionalProperties
  strict title default format minimum maximum minLength maxLength minItems maxItems pattern nullable const $ref $defs $schema $id definitions schema
  json_schema jsonSchema response_format responseFormat responseSchema responseMimeType responseModalities functionDeclarations
  function_declarations functionCall function_call functionResponse function_response functionCallingConfig toolConfig tool_config tool_calls
  tool_call_id toolCallId toolName toolUseId tool_use_id call_id arguments args output result results response is_error isError cache_control
  cacheControl ttl temperature top_p topP top_k topK max_tokens max_completion_tokens max_output_tokens maxOutputTokens maxTokens
  max_tokens_to_sample stop stop_sequences stopSequences seed n stream stream_options include_usage frequency_penalty presence_penalty
  frequencyPenalty presencePenalty logit_bias logprobs top_logprobs user metadata store service_tier reasoning reasoning_effort effort summary
  verbosity parallel_tool_calls disable_parallel_tool_use previous_response_id conversation include truncation background prediction modalities
  audio voice safety_identifier prompt_cache_key prompt_cache_retention thinking thinkingConfig thinking_config thinkingBudget thinking_budget
  includeThoughts budget_tokens budgetTokens signature thought thoughtSignature thought_signature redacted_thinking data encrypted_content source
  media_type mediaType mimeType mime_type url uri image image_url imageUrl detail file file_id fileId file_data fileData file_url fileUri file_uri
  filename inlineData inline_data input_audio video document documents context citations annotations generationConfig generation_config
  safetySettings safety_settings category threshold cachedContent cached_content candidateCount providerOptions provider_options providerMetadata
  abortSignal headers includeRawChunks inputSchema input_schema outputSchema providerExecuted dynamic status phase refusal reasoning_content
  reasoning_details reasoning_text summary_text summary_index content_index output_index sequence_number item item_id delta obfuscation choices
  message finish_reason finishReason stop_reason stop_sequence stop_details usage prompt_tokens completion_tokens total_tokens input_tokens
  output_tokens cached_tokens reasoning_tokens prompt_tokens_details completion_tokens_details input_tokens_details output_tokens_details
  audio_tokens accepted_prediction_tokens rejected_prediction_tokens cache_creation_input_tokens cache_read_input_tokens cache_creation
  ephemeral_5m_input_tokens ephemeral_1h_input_tokens server_tool_use created created_at completed_at system_fingerprint incomplete_details reason
  error code param candidates usageMetadata promptTokenCount candidatesTokenCount totalTokenCount thoughtsTokenCount cachedContentTokenCount
  promptTokensDetails modality tokenCount modelVersion responseId createTime promptFeedback blockReason safetyRatings probability blocked
  groundingMetadata citationMetadata avgLogprobs embedding embeddings encoding_format dimensions input_type texts inputs query top_n
  return_documents relevance_score score size quality style moderation output_format output_compression response_modalities b64_json revised_prompt
  partial_images flagged categories category_scores category_applied_input_types transcript segments words start end language duration speed
  instances values value requests
`)

const MAX_FIELD_LENGTH = Math.max(...Array.from(KEYWORD_FIELDS, ({ length }) => length))
const isKeywordField = createKeywordTest(KEYWORD_FIELDS)
const isKeywordValue = createKeywordTest(KEYWORD_VALUES)
const isKeywordName = createKeywordTest(KEYWORD_NAMES)
