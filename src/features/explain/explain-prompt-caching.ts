import type { CodecRequest } from '../../request/codec/codec.ts'
import { encodeRequest } from '../../request/codec/encode.ts'
import type { PipelineContext } from '../../request/context.ts'
import type { ExplainedAttempt } from '../../request/prompt-caching.ts'
import type { CacheExplanation } from '../../request/routing/explanation.ts'
import type { Route } from '../../request/routing/group.ts'

/** Explains how the prompt would be cached at a target. Returns `undefined` for a request without content. */
export async function explainPromptCaching(
  request: CodecRequest & { context: PipelineContext },
  route: Route,
  mode: ExplainedAttempt['mode'],
): Promise<CacheExplanation | undefined> {
  if (!hasContent(request)) return undefined
  const cacher = await request.context.promptCacher.load()
  return cacher.explain({ request, route, mode, log: { isHedge: false } }, (changed) =>
    encodeRequest(changed, route.target),
  )
}

/** Whether a request has content, and isn't just an outline. */
export const hasContent = ({ call: { body } }: Pick<CodecRequest, 'call'>) =>
  CONTENT_FIELDS.some((name) => Object.hasOwn(body, name))

/** The fields that contain a request's content, across all formats. */
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
