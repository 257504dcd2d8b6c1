import type { TargetDifference } from './difference.ts'

const formats = /^anthropic-messages$/
const SAMPLING_OPTIONS = ['temperature', 'topP', 'topK'] as const
const UP_TO_MAX = ['low', 'medium', 'high', 'xhigh', 'max'] as const

/*
 * How Claude's generations differ. A model that matches no row is treated as one of the newest. Sources: migration guides, model pages, and the table
 * in https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting, October 2026; measurements of late instructions and forced tool
 * calls in https://github.com/pydantic/pydantic-ai.
 */
export const anthropic: readonly TargetDifference[] = [
  {
    formats,
    models: /^claude-/,
    lacks: SAMPLING_OPTIONS,
    prefill: false,
    lateSystem: 'before-answer',
    toolChoices: ['none'],
    reasoning: { efforts: UP_TO_MAX },
  },
  {
    formats,
    models: /^claude-sonnet-5[-.]5/,
    reasoning: { efforts: ['none', ...UP_TO_MAX], disabledType: 'between_tools' },
  },
  // Models that can disable thinking, and that can be forced to call a tool.
  {
    formats,
    models: /^claude-(?:haiku|(?:opus|sonnet)-(?:4|5(?![-.]\d(?!\d))))/,
    toolChoices: ['none', 'required', 'tool', 'search'],
    reasoning: { efforts: ['none', ...UP_TO_MAX] },
  },
  // Up to Opus 4.7, instructions must come first. Sonnet 5 accepts later ones, but doesn't follow them.
  { formats, models: /^claude-(?:[a-z]+-4(?![-.]8)|sonnet-5(?![-.]\d(?!\d)))/, lateSystem: false },
  // The last models that accept sampling parameters, and the first with adaptive thinking.
  {
    formats,
    models: /^claude-[a-z]+-4[-.]6/,
    supports: SAMPLING_OPTIONS,
    reasoning: { efforts: ['none', 'low', 'medium', 'high', 'max'] },
  },
  {
    formats,
    models: /^claude-(?:[123]|instant|4-|[a-z]+-4(?:$|[-.:@][0-5](?!\d)|[-@:]20|:))/,
    supports: SAMPLING_OPTIONS,
    prefill: true,
    lateSystem: false,
    toolChoices: ['none', 'required', 'tool', 'search'],
    reasoning: { control: 'budget', rejectsForcedTool: true, efforts: ['none', ...UP_TO_MAX] },
  },
  { formats, models: /^claude-(?:[12]|instant|3(?![-.]7))/, maxOutputTokens: 4_096, reasoning: { control: 'none' } },
  // Output schemas and strict tools are supported since Opus 4.1, and since version 4.5 for the other models.
  {
    formats,
    models: /^claude-(?:[123]|instant|4-|[a-z]+-4(?:$|[-.:@]0(?!\d)|[-@:]20|:))/,
    outputFormats: [],
    strictTools: false,
  },
  // Other vendors' models that use this format: DeepSeek, Z.ai, Moonshot, MiniMax. They ignore budgets and don't support output schemas. Some can't
  // be forced to call a tool while thinking.
  {
    formats,
    models: /^(?!claude-)/,
    supports: SAMPLING_OPTIONS,
    prefill: true,
    inputs: ['image', 'image-url', 'file', 'file-url'],
    toolResultInputs: ['image', 'image-url'],
    webSearch: false,
    ownTools: false,
    strictTools: false,
    outputFormats: [],
    reasoning: { control: 'budget', rejectsForcedTool: true, efforts: ['none', 'low', 'medium', 'high', 'xhigh'] },
  },
  // The setting that makes the API itself drop invalidated reasoning. Other hosts don't support it.
  {
    formats,
    providers: /^anthropic$/,
    models: /^claude-[a-z]+-(?:5[-.][1-9](?!\d)|[6-9])/,
    reasoning: { bindsReasoning: true },
  },
  // Features of Anthropic's own service that don't depend on the model. Bedrock, Vertex, and compatible providers reject or ignore them.
  { formats, providers: /^(?!anthropic$)/, lacks: ['cacheOptions', 'endUser', 'serviceTier'], lateSystem: false },
]
