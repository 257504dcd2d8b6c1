import type { TargetDifference } from './difference.ts'

const formats = /^anthropic-messages$/
const SAMPLING = ['temperature', 'topP', 'topK'] as const
const UP_TO_MAX = ['low', 'medium', 'high', 'xhigh', 'max'] as const

/*
 * Claude by its generations; one that no row knows is taken for one of the newest. Sources: migration guides, model pages and the table in
 * https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting, October 2026;
 * https://github.com/pydantic/pydantic-ai, which measured late instructions and calls that are forced.
 */
export const anthropic: readonly TargetDifference[] = [
  {
    formats,
    models: /^claude-/,
    lacks: SAMPLING,
    prefill: false,
    lateSystem: 'before-answer',
    toolChoices: ['none'],
    reasoning: { efforts: UP_TO_MAX },
  },
  { formats, models: /^claude-sonnet-5[-.]5/, reasoning: { efforts: ['none', ...UP_TO_MAX], off: 'between_tools' } },
  // Those that can be kept from thinking and made to call a tool.
  {
    formats,
    models: /^claude-(?:haiku|(?:opus|sonnet)-(?:4|5(?![-.]\d(?!\d))))/,
    toolChoices: ['none', 'required', 'tool'],
    reasoning: { efforts: ['none', ...UP_TO_MAX] },
  },
  // Until Opus 4.7 instructions came first or not at all. Sonnet 5 takes them later, and does not heed them.
  { formats, models: /^claude-(?:[a-z]+-4(?![-.]8)|sonnet-5(?![-.]\d(?!\d)))/, lateSystem: false },
  // The last to take sampling, the first to see themselves how much to think.
  {
    formats,
    models: /^claude-[a-z]+-4[-.]6/,
    takes: SAMPLING,
    reasoning: { efforts: ['none', 'low', 'medium', 'high', 'max'] },
  },
  {
    formats,
    models: /^claude-(?:[123]|instant|4-|[a-z]+-4(?:$|[-.:@][0-5](?!\d)|[-@:]20|:))/,
    takes: SAMPLING,
    prefill: true,
    lateSystem: false,
    toolChoices: ['none', 'required', 'tool'],
    reasoning: { by: 'budget', refusesForcedTool: true, efforts: ['none', ...UP_TO_MAX] },
  },
  { formats, models: /^claude-(?:[12]|instant|3(?![-.]7))/, maxOutputTokens: 4_096, reasoning: { by: 'none' } },
  // Schemas of answers and strict tools came with Opus 4.1 and the 4.5 of the others.
  {
    formats,
    models: /^claude-(?:[123]|instant|4-|[a-z]+-4(?:$|[-.:@]0(?!\d)|[-@:]20|:))/,
    outputFormats: [],
    strictTools: false,
  },
  // Models of others that speak the format: DeepSeek, Z.ai, Moonshot, MiniMax. They ignore a budget,
  // know no schema of the answer, and some cannot be made to call while they think.
  {
    formats,
    models: /^(?!claude-)/,
    takes: SAMPLING,
    prefill: true,
    inputs: ['image', 'image-url', 'file', 'file-url'],
    toolResultInputs: ['image', 'image-url'],
    webSearch: false,
    ownTools: false,
    strictTools: false,
    outputFormats: [],
    reasoning: { by: 'budget', refusesForcedTool: true, efforts: ['none', 'low', 'medium', 'high', 'xhigh'] },
  },
  // The setting by which the API itself drops reasoning that no longer fits; other hosts have other ways.
  {
    formats,
    providers: /^anthropic$/,
    models: /^claude-[a-z]+-(?:5[-.][1-9](?!\d)|[6-9])/,
    reasoning: { bindsReasoning: true },
  },
  // What is Anthropic's own service and not the model's: Bedrock, Vertex and followers refuse or ignore it.
  { formats, providers: /^(?!anthropic$)/, lacks: ['cacheOptions', 'endUser', 'serviceTier'], lateSystem: false },
]
