import { decodeUtf8Lenient } from '../../lib/bytes.ts'
import { scanTopLevel } from '../../lib/json-scan.ts'
import { pathSegment } from '../../lib/path-segment.ts'
import { withMembers } from '../body-members.ts'
import type { Ask } from '../request.ts'

/**
 * A Messages request in Vertex's form: the model and the streaming mode are in the path, the version is in the body, and fields that Vertex
 * refuses are removed. https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai
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
  const name = pathSegment(model).replaceAll('%40', '@')
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

/** Top-level caching exists only at Anthropic itself. */
const REFUSED = ['anthropic_version', 'cache_control']

/** The betas that Vertex accepts in the header; any other is an error. Sources: issues of https://github.com/BerriAI/litellm, 2026. */
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

/** The beta that Vertex accepts only in the body. */
const BODY = /^context-1m-/

/** Removes the cache scope, which exists only at Anthropic itself. The pattern cannot match inside a string, where quotes are escaped. */
const withoutScopes = (text: string): string =>
  text.replace(/"cache_control"\s*:\s*\{[^{}]*\}/g, (mark) =>
    mark.replace(/,\s*"scope"\s*:\s*"[^"]*"|"scope"\s*:\s*"[^"]*"\s*,?\s*/, ''),
  )
