/* Writes the config file's JSON Schema into the build: `node src/cli/config-schema/write.ts`. */
import { writeFile } from 'node:fs/promises'
import { createConfigSchema } from './config-schema.ts'

await writeFile(`${process.env.BUILD_OUT ?? 'dist'}/config.schema.json`, `${JSON.stringify(createConfigSchema())}\n`)
