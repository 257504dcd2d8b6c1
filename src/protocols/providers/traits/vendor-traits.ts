import { REJECTS_USAGE_REQUEST_PATTERN } from '../rejects-usage-request.ts'
import type { TargetDifference } from './difference.ts'

const formats = /^openai-chat$/
const PENALTY_OPTIONS = ['frequencyPenalty', 'presencePenalty'] as const
const ALL_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/*
 * How individual vendors of Chat Completions differ from other providers of OpenAI's formats. Sources: the documentation linked in definitions.ts,
 * October 2026; recorded requests; the profiles in https://github.com/pydantic/pydantic-ai; and the compatibility table in
 * https://github.com/earendil-works/pi.
 */
export const vendors: readonly TargetDifference[] = [
  // DeepSeek's models reason unless told not to. While reasoning, they accept neither sampling parameters nor forced tool calls, and each of their
  // turns must contain the reasoning field.
  {
    formats,
    providers: /^deepseek$/,
    outputFormats: ['json'],
    reasoning: {
      control: 'thinking-effort',
      efforts: ['none', 'low', 'high', 'max'],
      excludes: ['temperature', 'topP', ...PENALTY_OPTIONS],
      isDefault: true,
      rejectsForcedTool: true,
      replay: 'always',
      needsField: true,
    },
  },
  // Mistral rejects all unknown fields, and always reports a stream's usage.
  {
    formats,
    providers: REJECTS_USAGE_REQUEST_PATTERN,
    lacks: ['seed'],
    supports: ['cacheKey'],
    inputs: ['image', 'image-url'],
    maxTemperature: 1.5,
    prefill: false,
    strictTools: true,
    streamUsage: false,
    toolIds: { characters: 'A-Za-z0-9', maxLength: 9, isExact: true },
    reasoning: { field: 'thinking-parts', replay: 'always' },
  },
  {
    formats,
    providers: /^mistral$/,
    models: /^mistral-(?:small-(?:latest|26)|medium(?:$|-(?:latest|26|3(?:[-.]5)?$)))/,
    reasoning: { control: 'effort', efforts: ['none', 'high'] },
  },
  {
    formats,
    providers: /^xai$/,
    lacks: [...PENALTY_OPTIONS, 'stop'],
    reasoning: { control: 'effort', efforts: ['low', 'medium', 'high'] },
  },
  { formats: /^openai-responses$/, providers: /^xai$/, supports: ['cacheKey'] },
  { formats, providers: /^xai$/, models: /^grok-4\.3/, reasoning: { efforts: ['none', 'low', 'medium', 'high'] } },
  { formats, providers: /^xai$/, models: /^grok-4\.20|^grok-build/, reasoning: { control: 'none' } },
  {
    formats,
    providers: /^cohere$/,
    lacks: ['parallelToolCalls'],
    inputs: ['image', 'image-url'],
    maxTemperature: 1,
    toolChoices: ['none', 'required'],
  },
  {
    formats,
    providers: /^cohere$/,
    models: /^command-a-(?:reasoning|plus)/,
    reasoning: { control: 'effort', efforts: ['none', 'high'] },
  },
  // All Kimi models have fixed sampling parameters, and reject any other value.
  {
    formats,
    providers: /^moonshot$/,
    models: /^kimi-/,
    lacks: ['temperature', 'topP', ...PENALTY_OPTIONS],
    maxStopSequences: 5,
    outputLimitField: 'max_completion_tokens',
    toolChoices: ['none'],
    reasoning: { control: 'effort', efforts: ['low', 'high', 'max'], replay: 'always', needsField: true },
  },
  {
    formats,
    providers: /^moonshot$/,
    models: /^kimi-k2\.[56]/,
    reasoning: { control: 'thinking', efforts: ['none', 'high'] },
  },
  { formats, providers: /^moonshot$/, models: /^kimi-k2(?!\.[56])/, reasoning: { control: 'none' } },
  {
    formats,
    providers: /^zai$/,
    lacks: [...PENALTY_OPTIONS, 'seed', 'parallelToolCalls'],
    maxTemperature: 1,
    maxStopSequences: 1,
    outputFormats: ['json'],
    toolChoices: [],
    reasoning: { control: 'thinking', efforts: ['none', 'high'], replay: 'always' },
  },
  {
    formats,
    providers: /^zai$/,
    models: /^glm-5\.2/,
    reasoning: { control: 'thinking-effort', efforts: ['none', 'high', 'max'] },
  },
  {
    formats,
    providers: /^zai$/,
    models: /^glm-5\.[3-9]/,
    reasoning: { control: 'thinking-effort', efforts: ['low', 'high', 'max'] },
  },
  {
    formats,
    providers: /^alibaba$/,
    lacks: ['frequencyPenalty'],
    supports: ['topK'],
    toolChoices: ['none', 'tool'],
    reasoning: {
      control: 'enable_thinking',
      efforts: ALL_EFFORTS,
      maxBudget: 32_768,
      isDefault: true,
      rejectsForcedTool: true,
    },
  },
  {
    formats,
    providers: /^alibaba$/,
    models: /^(?!qwen)|coder|instruct/,
    reasoning: { control: 'none', isDefault: false },
  },
  {
    formats,
    providers: /^minimax$/,
    lacks: [...PENALTY_OPTIONS, 'seed', 'parallelToolCalls'],
    maxTemperature: 1,
    outputLimitField: 'max_completion_tokens',
    outputFormats: [],
    toolChoices: [],
    reasoning: { replay: 'always' },
  },
  {
    formats,
    providers: /^xiaomi$/,
    toolChoices: [],
    outputFormats: ['json'],
    outputLimitField: 'max_completion_tokens',
    reasoning: { control: 'thinking', efforts: ['none', 'high'], replay: 'always', needsField: true },
  },
]
