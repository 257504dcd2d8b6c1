import { transformSync } from 'esbuild'
import { suite } from '../support/suite.ts'
import { openGateway } from './gateway.ts'
import { readPages } from './pages.ts'

/** Blocks that need only `gateway`, because they have no imports or declarations. */
const pages = readPages()
  .filter(({ path }) => /^docs\/src\/content\/docs\/(?:start|guides|reference)\//.test(path))
  .map(({ path, blocks }) => ({
    path,
    blocks: blocks.filter(
      ({ language, code, note }) =>
        language === 'ts' &&
        note === undefined &&
        !/^(?:import|declare) /m.test(code) &&
        /^await gateway\.|= await gateway\./m.test(code),
    ),
  }))
  .filter(({ blocks }) => blocks.length > 0)

const env = { OPENAI_API_KEY: 'sk-openai', APP_KEY: `sbx_${'k'.repeat(40)}` }

const test = suite('TypeScript in the documentation')

for (const { path, blocks } of pages)
  test(`calls to the gateway in ${path} work as written`, async () => {
    const { gateway, close } = await openGateway('openai', 'anthropic', 'groq')
    try {
      for (const { place, code } of blocks) {
        const script = transformSync(`export {}\n${code}`, { loader: 'ts', format: 'esm' }).code.replace(
          /export \{.*\};?/g,
          '',
        )
        const run = new Function('gateway', 'console', 'process', `return (async () => {${script}\n})()`)
        await run(gateway, { log() {} }, { env }).catch((error: Error) => {
          throw new Error(`${place}: ${error.message}`, { cause: error })
        })
      }
    } finally {
      await close()
    }
  })
