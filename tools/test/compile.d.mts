export declare const ROOT: string;
export declare const BUILD: string;
export declare function compile(): Promise<number>;
export declare function compiledPath(path: string): string;
export declare function compiledText(source: string, filename: string): Promise<{ code: string; map: string }>;
