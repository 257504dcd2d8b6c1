import { decodeUtf8Lenient } from '../../lib/bytes.ts'
import { scanTopLevel } from '../../lib/json-scan.ts'
import { withMembers } from '../body-members.ts'
import type { Ask } from '../request.ts'

/**
 * Messages as Vertex wants them: the model and whether to stream stand in the path, the version in the body, and what it would refuse is
 * left out. https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai
 */
export function claudeOnVertex({ path, headers: all, body }: Ask, model: string): Omit<Ask, 'query'> {
  const { 'anthropic-version': _, 'anthropic-beta': asked = '', ...headers } = all
  const text = withoutScopes(typeof body === 'string' ? body : decodeUtf8Lenient(body))
  const version = { anthropic_version: 'vertex-2023-10-16' }
  if (path.endsWith('/count_tokens')) {
    // It has a model of its own, and knows no betas.
    const counted = withMembers(text, { without: REFUSED, added: version })
    return { path: `${PUBLISHER}/count-tokens:rawPredict`, headers, body: counted }
  }
  const betas = asked.split(',').map((beta) => beta.trim())
  const inHeader = [...new Set(betas.flatMap((beta) => HEADER[beta] ?? []))].join(',')
  const inBody = betas.filter((beta) => BODY.test(beta))
  const [stream] = scanTopLevel(text, ['stream']).spans
  const isStream = stream !== undefined && text.slice(stream.start, stream.end) === 'true'
  const name = encodeURIComponent(model).replaceAll('%40', '@')
  return {
    path: `${PUBLISHER}/${name}:${isStream ? 'streamRawPredict' : 'rawPredict'}`,
    headers: inHeader === '' ? headers : { ...headers, 'anthropic-beta': inHeader },
    body: withMembers(text, {
      without: ['model', ...REFUSED],
      added: inBody.length > 0 ? { ...version, anthropic_beta: inBody } : version,
    }),
  }
}

const PUBLISHER = '/publishers/anthropic/models'

/** Caching as a whole is Anthropic's own service. */
const REFUSED = ['anthropic_version', 'cache_control']

/** Betas that it knows; any other in the header is an error. Sources: issues of https://github.com/BerriAI/litellm, 2026. */
const HEADER: Readonly<Record<string, string>> = {
  'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19',
  'compact-2026-01-12': 'compact-2026-01-12',
  'computer-use-2025-01-24': 'computer-use-2025-01-24',
  'computer-use-2025-11-24': 'computer-use-2025-11-24',
  'context-management-2025-06-27': 'context-management-2025-06-27',
  'interleaved-thinking-2025-05-14': 'interleaved-thinking-2025-05-14',
  'tool-search-tool-2025-10-19': 'tool-search-tool-2025-10-19',
  'web-search-2025-03-05': 'web-search-2025-03-05',
}

/** The one that it only hears of in the body. */
const BODY = /^context-1m-/

/** Marks of caching without the scope that only Anthropic's own service knows. In no string can the pattern stand: its quotes would be escaped. */
const withoutScopes = (text: string): string =>
  text.replace(/"cache_control"\s*:\s*\{[^{}]*\}/g, (mark) =>
    mark.replace(/,\s*"scope"\s*:\s*"[^"]*"|"scope"\s*:\s*"[^"]*"\s*,?\s*/, ''),
  )
