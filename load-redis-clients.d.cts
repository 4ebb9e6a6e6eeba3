/** Undefined if ioredis is not installed. */
export declare function loadIoredis(): { readonly Redis: new (url: string, options: object) => object } | undefined;

/** Undefined if redis is not installed. */
export declare function loadNodeRedis(): { createClient(options: object): object } | undefined;
