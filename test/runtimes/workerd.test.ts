import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { TOKEN } from './client.ts'
import { linkPackage } from './package-link.ts'
import { runsIn } from './scenario.ts'

/** Bundles an app for Workers and serves it in workerd, on loopback. */
async function start(app: string) {
  await linkPackage()
  const { outputFiles } = await build({
    entryPoints: [new URL(`apps/${app}.mjs`, import.meta.url).pathname],
    bundle: true,
    write: false,
    logLevel: 'error',
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
  })
  const worker = new Miniflare({
    // Named, so that nobody parses it for modules that it could import: it is one.
    modules: [{ type: 'ESModule', path: `${app}.mjs`, contents: outputFiles[0]?.text ?? '' }],
    compatibilityDate: '2026-07-01',
    compatibilityFlags: ['enable_request_signal'],
    bindings: { ADMIN_TOKEN: TOKEN },
    host: '127.0.0.1',
    port: 0,
  })
  const url = await worker.ready
  return { url: url.origin, stop: () => worker.dispose() }
}

runsIn('workerd: export default gateway', () => start('worker-gateway'))
runsIn('workerd: toWorkersHandler', () => start('worker-mount'))
