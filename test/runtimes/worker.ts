import { build } from 'esbuild'
import { Miniflare, type WorkerOptions } from 'miniflare'
import { linkPackage } from './package-link.ts'

/** Bundles an app for Workers, from a URL or the folder `apps`, and serves it in workerd on loopback. Default: any free port. */
export async function startWorker(
  app: string | URL,
  { port = 0, ...options }: Partial<WorkerOptions> & { port?: number },
) {
  await linkPackage()
  const { outputFiles } = await build({
    entryPoints: [(typeof app === 'string' ? new URL(`apps/${app}.mjs`, import.meta.url) : app).pathname],
    bundle: true,
    write: false,
    logLevel: 'error',
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
  })
  const worker = new Miniflare({
    // Listed explicitly, because Miniflare would otherwise scan it for imports.
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents: outputFiles[0]?.text ?? '' }],
    compatibilityDate: '2026-07-01',
    compatibilityFlags: ['enable_request_signal'],
    host: '127.0.0.1',
    port,
    ...options,
  })
  const url = await worker.ready
  return { url: url.origin, stop: () => worker.dispose() }
}
