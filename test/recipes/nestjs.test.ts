import { fileURLToPath } from 'node:url'
import { serves } from './scenario.ts'
import { withToken } from './sign-in.ts'

/** A `nest new` project that runs only the compiler instead of `nest start`. */
const tsc = fileURLToPath(new URL('../../node_modules/tsc7/bin/tsc', import.meta.url))
const typeRoots = [fileURLToPath(new URL('../../node_modules/@types', import.meta.url))]
const project = {
  'package.json': JSON.stringify({ private: true, scripts: { start: `node ${tsc} && node dist/main` } }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      module: 'nodenext',
      moduleResolution: 'nodenext',
      resolvePackageJsonExports: true,
      esModuleInterop: true,
      isolatedModules: true,
      removeComments: true,
      emitDecoratorMetadata: true,
      experimentalDecorators: true,
      allowSyntheticDefaultImports: true,
      target: 'ES2023',
      types: ['node'],
      typeRoots,
      outDir: './dist',
      rootDir: './src',
      skipLibCheck: true,
      strict: true,
      strictPropertyInitialization: false,
    },
    include: ['src'],
  }),
}

serves('nestjs', withToken, { files: project })
