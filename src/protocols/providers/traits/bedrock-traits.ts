import { anthropic } from './anthropic-traits.ts'
import type { TargetDifference } from './difference.ts'

/** Models before Claude 4.5. */
const OLDER_CLAUDE_PATTERN = /^claude-(?:\d|(?:opus|sonnet)-4-(?:1-)?\d{8})/

/**
 * How models differ on the Converse API. Sources: the API's reference by model, October 2026, and the profiles in
 * https://github.com/pydantic/pydantic-ai.
 */
const rows: readonly TargetDifference[] = [
  { models: /^(?!claude|nova|(?:mi|mag|pix)(?:ni)?stral)/, lacks: ['topK'] },
  {
    models: /^claude-/,
    inputs: ['image', 'file', 'search-result'],
    toolResultInputs: ['image', 'file', 'search-result'],
    strictTools: true,
    outputFormats: ['json-schema'],
    cacheBreakpoints: 'cache_control',
    stopFields: ['/stop_sequence'],
    reasoning: { control: 'adaptive' },
  },
  // Claude's generations differ in the same ways as at Anthropic. To prevent tool calls, leave the tools out of the request.
  ...anthropic
    .filter(isClaudeRow)
    .map(({ toolChoices, ...row }) =>
      toolChoices ? { ...row, toolChoices: toolChoices.filter((choice) => choice !== 'none') } : row,
    ),
  { models: OLDER_CLAUDE_PATTERN, maxCacheTtl: '5m' },
  {
    models: /^nova-/,
    inputs: ['image', 'file', 'video'],
    toolResultInputs: ['image', 'file'],
    toolChoices: ['required', 'tool'],
    topKField: 'inferenceConfig',
    cacheBreakpoints: 'cache_control',
    maxCacheTtl: '5m',
    uncacheable: ['tools', 'result-parts'],
  },
  { models: /^nova-micro/, inputs: [], toolResultInputs: [] },
  { models: /^nova-2/, reasoning: { control: 'level', efforts: ['none', 'low', 'medium', 'high'] } },
  { models: /^gpt-oss/, inputs: [], reasoning: { control: 'effort' } },
  { models: /^qwen3/, reasoning: { control: 'reasoning_config' } },
  { models: /^(?:mistral|ministral|magistral|pixtral)-/, toolChoices: ['required'] },
  {
    models:
      /^(?:qwen3|gpt-oss|minimax|mistral-large-3|ministral|magistral|voxtral|nemotron|gemma|glm|kimi|deepseek-v3|v3)/,
    outputFormats: ['json-schema'],
  },
]

/** Returns whether a row is about Claude models, rather than about a provider or about other models that use the format. */
function isClaudeRow({ models }: TargetDifference): boolean {
  return models !== undefined && !models.test('another-model')
}

export const bedrock: readonly TargetDifference[] = rows.map((row) => ({ ...row, formats: /^bedrock-converse$/ }))
