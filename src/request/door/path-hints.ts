import type { Area } from './area.ts'

/**
 * Returns a sentence with the right base URL, for paths that the AI SDK's gateway client calls if its base URL is wrong. Returns `undefined` for
 * other paths.
 */
export const getAiSdkHint = (path: string, basePath = ''): string | undefined =>
  AI_SDK_PATH.test(path)
    ? `Set the base URL of the AI SDK to ${basePath}/v4/ai (AI SDK 6: ${basePath}/v3/ai).`
    : undefined

const AI_SDK_PATH = /\/(?:language|embedding|image|reranking|speech|transcription)-model\/?$/

/** Returns a hint that says where the dashboard or the metrics are, for paths where people look for them. Returns `undefined` for other paths. */
export function getPageHint(
  path: string,
  { basePath = '', areas }: { basePath?: string; areas?: readonly Area[] } = {},
): string | undefined {
  const name = /^(?:\/(?:v1|v1beta|api))?\/(dashboard|admin|ui|metrics)(?:\/|$)/.exec(path)?.[1]
  if (name === undefined) return undefined
  const area = areas?.find((area) => area.name === (name === 'metrics' ? 'metrics' : 'dashboard'))
  const [subject, defaultPath, instructions] = name === 'metrics' ? METRICS_HINT : DASHBOARD_HINT
  if (area) return `${subject} at ${basePath}${area.path}${name === 'metrics' ? '' : '/'}.`
  return areas ? instructions : `${subject} at ${defaultPath} if enabled. ${instructions}`
}

const DASHBOARD_HINT = [
  'The dashboard is',
  '/admin/',
  'To serve the dashboard, start signalbox with --dashboard or set the "dashboard" option of createGateway.',
] as const
const METRICS_HINT = [
  'Metrics are',
  '/metrics',
  'To serve metrics, start signalbox with --metrics or pass prometheus() to createGateway in "observe".',
] as const
