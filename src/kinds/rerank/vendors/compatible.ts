import { rerankVendor } from '../vendor.ts'

/** Servers such as vLLM and Infinity, and vendors of which nothing else is known: they get whatever clients send. */
export const compatible = rerankVendor({ name: 'compatible', takes: 'all' })
