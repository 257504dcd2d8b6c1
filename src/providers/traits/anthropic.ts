import type { Row } from './difference.ts'

const formats = /^anthropic-messages$/
const SAMPLING = ['temperature', 'topP', 'topK'] as const
const UP_TO_MAX = ['low', 'medium', 'high', 'xhigh', 'max'] as const

/*
 * Claude by its generations; one that no row knows is taken for one of the newest. Sources: the migration guides and model pages of
 * https://platform.claude.com/docs, October 2026, and the profiles of https://github.com/pydantic/pydantic-ai, August 2026.
 */
export const anthropic: readonly Row[] = [
  // From 5.5 on a model cannot be kept from thinking, nor made to call a tool.
  {
    formats,
    models: /^claude-/,
    lacks: SAMPLING,
    prefill: false,
    toolChoices: ['none'],
    reasoning: { efforts: UP_TO_MAX },
  },
  {
    formats,
    models: /^claude-(?:opus|sonnet|haiku)-(?:4|5(?![-.]\d(?!\d)))/,
    toolChoices: ['none', 'required', 'tool'],
    reasoning: { efforts: ['none', ...UP_TO_MAX] },
  },
  // The last to take sampling; the first to decide themselves how much to think, and to refuse a beginning of their answer.
  {
    formats,
    models: /^claude-[a-z]+-4[-.]6/,
    takes: SAMPLING,
    reasoning: { efforts: ['none', 'low', 'medium', 'high', 'max'] },
  },
  {
    formats,
    models: /^claude-(?:3[-.]7|4-|[a-z]+-4(?:$|[-.:@][0-5](?!\d)|[-@:]20|:))/,
    takes: SAMPLING,
    prefill: true,
    toolChoices: ['none', 'required', 'tool'],
    reasoning: { by: 'budget', refusesForcedTool: true, efforts: ['none', ...UP_TO_MAX] },
  },
  {
    formats,
    models: /^claude-(?:instant|[12]\b|3-(?!7)|3\.[05])/,
    takes: SAMPLING,
    prefill: true,
    maxOutputTokens: 4_096,
    toolChoices: ['none', 'required', 'tool'],
    reasoning: { by: 'none' },
  },
  // Schemas of answers and strict tools came with Opus 4.1 and the 4.5 of the others.
  {
    formats,
    models: /^claude-(?:[123]|instant|4-|[a-z]+-4(?:$|[-.:@]0(?!\d)|[-@:]20|:))/,
    outputFormats: [],
    strictTools: false,
  },
  // Models of others that speak the format: DeepSeek, Z.ai, Moonshot, MiniMax. They ignore a budget and know no schema of the answer.
  {
    formats,
    models: /^(?!claude-)/,
    inputs: ['image', 'image-url', 'file', 'file-url'],
    toolResultInputs: ['image', 'image-url'],
    webSearch: false,
    strictTools: false,
    outputFormats: [],
    reasoning: { by: 'budget', efforts: ['none', 'low', 'medium', 'high', 'xhigh'] },
  },
  // What is Anthropic's own service and not the model's: Bedrock, Vertex and followers refuse or ignore it.
  { formats, providers: /^(?!anthropic$)/, lacks: ['cacheOptions', 'endUser', 'serviceTier'] },
]
