import type { CodecRequest } from '../../request/codec/codec.ts'
import { encodeRequest } from '../../request/codec/encode.ts'
import type { CacheExplanation } from '../../request/routing/explanation.ts'
import type { Route } from '../../request/routing/group.ts'
import type { CachingMode } from '../prompt-caching/caching-mode.ts'
import type { PromptCachingFeature } from '../prompt-caching/prompt-caching-feature.ts'

/** Explains how the prompt would be cached at a target. Returns `undefined` for a request without content. */
export async function explainPromptCaching(
  request: CodecRequest,
  route: Route,
  { mode, promptCaching }: { mode: CachingMode; promptCaching: Pick<PromptCachingFeature, 'load'> },
): Promise<CacheExplanation | undefined> {
  if (!hasContent(request)) return undefined
  const promptCacher = await promptCaching.load()
  return promptCacher.explain({ request, route, mode, log: { isHedge: false } }, (changed) =>
    encodeRequest(changed, route.target),
  )
}

/** Returns whether a request has content, as opposed to being only an outline. */
export const hasContent = ({ call: { body } }: Pick<CodecRequest, 'call'>) =>
  CONTENT_FIELDS.some((name) => Object.hasOwn(body, name))

/** The fields that contain a request's content, in any format. */
const CONTENT_FIELDS = [
  'messages',
  'input',
  'contents',
  'prompt',
  'texts',
  'content',
  'requests',
  'query',
  'url',
  'urls',
]
